/** Checks that a server handles each message in linear time: all methods, over each transport, headers and bodies. */

import { PassThrough } from 'node:stream'
import { apiKeys, bearer } from '@mcpx/auth/resource-server'
import { type JsonObject, TASKS_EXTENSION } from '@mcpx/protocol'
import { createServer, type Server } from '@mcpx/server'
import { tasks } from '@mcpx/tasks'
import { mcp } from '@mcpx/transport-http'
import { serveStdio } from '@mcpx/transport-stdio'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { eraTables, type MethodEntry } from '../../../packages/protocol/src/methods.ts'
import { mirroredHeaders } from '../../../packages/transport-http/src/mirrored-headers.ts'
import { LEGACY, MODERN, modern } from './connections.fixture.ts'
import { adversarialTexts, expectLinearWork } from './growth.fixture.ts'
import { initialize } from './sockets.fixture.ts'

vi.setConfig({ testTimeout: 120_000 })

const strings = {
  type: 'object',
  properties: {
    text: { type: 'string', pattern: '^[a-z]+( [a-z]+)*$' },
    email: { type: 'string', format: 'email' },
    uri: { type: 'string', format: 'uri' },
    date: { type: 'string', format: 'date-time' },
    items: { type: 'array', uniqueItems: true },
    mirrored: { type: 'string', 'x-mcp-header': 'Text' },
  },
} as const

const createLawServer = () =>
  createServer({ name: 'law', version: '1' }, { extensions: [tasks()], onError: () => {} })
    .tool('strings', { input: strings }, () => 'x')
    .tool('ask', {}, async (_args, ctx) => {
      const { action } = await ctx.elicit('name', { message: 'Who?', schema: { type: 'object', properties: {} } })
      return action
    })
    .prompt(
      'greet',
      { args: { type: 'object', properties: { who: { type: 'string' } } }, complete: { who: (prefix) => [prefix] } },
      () => 'x',
    )
    .resource(
      'note://{a}/{b}/x{c}y{d}',
      { name: 'note', subscribe: true, complete: { a: (prefix) => [prefix] } },
      () => 'x',
    )
    .resource('note://files/{+path}/{a}-{b}.txt', { name: 'files' }, () => 'x')
    .resource('note://{a}{?b,c}', { name: 'query' }, () => 'x') as unknown as Server

/** A message of a client, without `jsonrpc`. */
interface Sent {
  readonly method?: string
  readonly id?: unknown
  readonly params?: object
  readonly result?: unknown
  readonly error?: unknown
}

const request = (method: string, params: object = {}, id: unknown = 1): Sent => ({ id, method, params })
const notification = (method: string, params: object = {}): Sent => ({ method, params })
const complete = (ref: object, argument: object, context: object = {}) =>
  request('completion/complete', { ref, argument, context })

type Messages = Readonly<Record<string, (text: string) => Sent>>

const sharedMessages: Messages = {
  'the name of a tool': (name) => request('tools/call', { name }),
  'a string that matches no pattern': (text) => request('tools/call', { name: 'strings', arguments: { text } }),
  'an e-mail address': (email) => request('tools/call', { name: 'strings', arguments: { email } }),
  'a URI in arguments': (uri) => request('tools/call', { name: 'strings', arguments: { uri } }),
  'a date': (date) => request('tools/call', { name: 'strings', arguments: { date } }),
  'an argument in a header': (mirrored) => request('tools/call', { name: 'strings', arguments: { mirrored } }),
  'a URI': (uri) => request('resources/read', { uri }),
  'a cursor of tools': (cursor) => request('tools/list', { cursor }),
  'a cursor of resources': (cursor) => request('resources/list', { cursor }),
  'a cursor of templates': (cursor) => request('resources/templates/list', { cursor }),
  'a cursor of prompts': (cursor) => request('prompts/list', { cursor }),
  'the name of a prompt': (name) => request('prompts/get', { name }),
  'the argument of a prompt': (who) => request('prompts/get', { name: 'greet', arguments: { who } }),
  'a template to complete': (uri) => complete({ type: 'ref/resource', uri }, { name: 'a', value: 'x' }),
  'a value of a template': (value) =>
    complete({ type: 'ref/resource', uri: 'note://{a}/{b}/x{c}y{d}' }, { name: 'a', value }, { arguments: { value } }),
  'a value of a prompt': (value) => complete({ type: 'ref/prompt', name: 'greet' }, { name: 'who', value }),
  'a prompt to complete': (name) => complete({ type: 'ref/prompt', name }, { name, value: name }),
  'a method': (method) => request(method),
  'a method of a notification': (method) => notification(method),
  'an id': (id) => request('tools/list', {}, id),
  'a progress token': (progressToken) => request('tools/list', { _meta: { progressToken } }),
  'a key of metadata': (text) => request('tools/list', { _meta: { [text]: 1 } }),
  'a request to cancel': (requestId) => notification('notifications/cancelled', { requestId, reason: requestId }),
  'the revision of a handshake': (protocolVersion) =>
    request('initialize', { ...initialize().params, protocolVersion }),
  'the name of a client': (name) =>
    request('initialize', { ...initialize().params, clientInfo: { name, version: name, title: name } }),
  'the id of a response': (id) => ({ id, result: {} }),
  'a response': (text) => ({ id: 1, result: { [text]: text } }),
  'an error': (message) => ({ id: 1, error: { code: -1, message, data: message } }),
}

const eraMessages = {
  modern: {
    ...sharedMessages,
    discovery: (text) => request('server/discover', { text }),
    'a request state': (requestState) => request('tools/call', { name: 'ask', requestState }),
    'an input response': (text) =>
      request('tools/call', { name: 'ask', inputResponses: { name: { action: 'accept', content: { text } } } }),
    'an input response of no action': (action) =>
      request('tools/call', { name: 'ask', inputResponses: { name: { action } } }),
    'the key of an input response': (key) =>
      request('tools/call', { name: 'ask', inputResponses: { [key]: { action: 'cancel' } } }),
    'the URI of a subscription': (uri) =>
      request('subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } }),
    'the task of a subscription': (id) => request('subscriptions/listen', { notifications: { taskIds: [id] } }),
    'a task': (taskId) => request('tasks/get', { taskId }),
    'a task to cancel': (taskId) => request('tasks/cancel', { taskId }),
    'a task to update': (taskId) => request('tasks/update', { taskId, inputResponses: { [taskId]: { taskId } } }),
  },
  legacy: {
    ...sharedMessages,
    'a ping': (text) => request('ping', { text }),
    'the URI of a subscription': (uri) => request('resources/subscribe', { uri }),
    'the URI of a subscription that ends': (uri) => request('resources/unsubscribe', { uri }),
    'a log level': (level) => request('logging/setLevel', { level }),
    'a task': (taskId) => request('tasks/get', { taskId }),
    'the result of a task': (taskId) => request('tasks/result', { taskId }),
    'a task to cancel': (taskId) => request('tasks/cancel', { taskId }),
    'a cursor of tasks': (cursor) => request('tasks/list', { cursor }),
    'the status of a task': (text) => notification('notifications/tasks/status', { taskId: text, status: text }),
    'a handshake that is repeated': (text) => notification('notifications/initialized', { text }),
    'progress of an unknown request': (progressToken) =>
      notification('notifications/progress', { progressToken, progress: 1, message: progressToken }),
    'a change of roots': (text) => notification('notifications/roots/list_changed', { _meta: { text } }),
  },
} satisfies Readonly<Record<string, Messages>>

const url = 'http://localhost/mcp'
const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', host: 'localhost' }
const app = mcp(createLawServer(), { sse: '/sse' })

/** Posts a body, and reads the response until no more data arrives. */
async function post(body: string, headers: Readonly<Record<string, string>>, to = url): Promise<Response> {
  const response = await app.fetch(new Request(to, { method: 'POST', headers: { ...types, ...headers }, body }))
  if (response.headers.get('content-type') !== 'text/event-stream') await response.text()
  else await response.body?.cancel()
  return response
}

type Send = (message: Sent) => Promise<unknown>

const textOf = (message: Sent) => JSON.stringify({ jsonrpc: '2.0', ...message })

/** Adds the envelope to requests and notifications, with the extension for tasks. */
function withTasks({ params, ...message }: Sent): Sent {
  if (message.method === undefined) return message
  const capabilities = { extensions: { [TASKS_EXTENSION]: {} } }
  const _meta = { ...(modern(params)._meta as object), 'io.modelcontextprotocol/clientCapabilities': capabilities }
  return { ...message, params: { ...params, _meta } }
}

/** The headers that repeat members of a message. */
function headersOf({ method, params }: Sent): Record<string, string> {
  if (method === undefined) return { 'mcp-protocol-version': MODERN }
  const mirrored = [{ header: 'Text', path: ['mirrored'] }]
  const headers = mirroredHeaders({ jsonrpc: '2.0', method, params: params as JsonObject }, MODERN, mirrored)
  // A method has no encoding.
  return { ...headers, 'mcp-method': encodeURI(method).trim() }
}

async function openModern(): Promise<Send> {
  return (message) => {
    const sent = withTasks(message)
    return post(textOf(sent), headersOf(sent))
  }
}

async function openSession(capabilities: object = {}): Promise<Send> {
  const response = await post(JSON.stringify(initialize(LEGACY, capabilities)), {})
  const session = response.headers.get('mcp-session-id') as string
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': LEGACY }
  await post(textOf(notification('notifications/initialized')), headers)
  // A handshake opens another session.
  return (message) => post(textOf(message), message.method === 'initialize' ? {} : headers)
}

/** Opens a connection of the first transport over HTTP, and receives each response on its stream. */
async function openSse(): Promise<Send> {
  const stream = await app.fetch(new Request('http://localhost/sse', { headers: { ...types, accept: types.accept } }))
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
  onTestFinished(() => reader.cancel())
  const nextEvent = async () => {
    for (let text = ''; ; ) {
      const { value, done } = await reader.read()
      text += new TextDecoder().decode(value)
      if (done || (text.includes('data: ') && text.endsWith('\n\n'))) return text
    }
  }
  const [, path] = /data: (\S+)/.exec(await nextEvent()) ?? []
  const send: Send = async (message) => {
    const { status } = await post(textOf(message), {}, `http://localhost${path}`)
    if (status === 202 && message.method !== undefined && 'id' in message) await nextEvent()
  }
  await send({ ...initialize('2024-11-05'), id: 'open' })
  await send(notification('notifications/initialized'))
  return send
}

const connections: Readonly<Record<string, { readonly messages: Messages; open(): Promise<Send> }>> = {
  'the modern era': { messages: eraMessages.modern, open: openModern },
  'a session': { messages: eraMessages.legacy, open: openSession },
  'HTTP+SSE': { messages: eraMessages.legacy, open: openSse },
}

describe.each(Object.entries(connections))('the work of a message of %s', (_, { messages, open }) => {
  it.each(Object.keys(messages))('is linear in %s', async (name) => {
    const send = await open()
    for (const text of Object.values(adversarialTexts)) {
      await expectLinearWork((size) => send((messages[name] as (text: string) => Sent)(text(size))))
    }
  })
})

it.each(['modern', 'legacy'] as const)('the messages have all methods of clients of the %s era', (era) => {
  const isOfClient = ([, { from }]: [string, MethodEntry]) => from !== 'server'
  const { requests, notifications } = eraTables[era]
  const methods = [...Object.entries(requests), ...Object.entries(notifications)].filter(isOfClient)
  const sent = Object.values(eraMessages[era] as Messages).map((messageOf) => messageOf('x').method)
  expect(sent).toEqual(expect.arrayContaining(methods.map(([method]) => method)))
})

/** Values with many parts. */
const values: Readonly<Record<string, (size: number) => unknown>> = {
  'different objects': (size) => Array.from({ length: size / 10 }, (_, n) => ({ n })),
  'different strings': (size) => Array.from({ length: size / 10 }, (_, n) => `${n}`),
  'long strings of one length': (size) => Array.from({ length: size / 20_000 }, (_, n) => `${n}`.padEnd(20_000, 'x')),
  'different keys': (size) => Object.fromEntries(Array.from({ length: size / 10 }, (_, n) => [`k${n}`, n])),
  'empty lists': (size) => Array.from({ length: size / 3 }, () => []),
}

const structures: Readonly<Record<keyof typeof eraMessages, Readonly<Record<string, (items: unknown) => Sent>>>> = {
  modern: {
    arguments: (items) => request('tools/call', { name: 'strings', arguments: { items, ...(items as object) } }),
    metadata: (items) => request('tools/list', { _meta: { 'example.com/items': items } }),
    'input responses': (items) => request('tools/call', { name: 'ask', inputResponses: items }),
    'the filter of a subscription': (items) =>
      request('subscriptions/listen', { notifications: { resourceSubscriptions: items, taskIds: items } }),
  },
  legacy: {
    arguments: (items) => request('tools/call', { name: 'strings', arguments: { items, ...(items as object) } }),
    metadata: (items) => request('tools/list', { _meta: { 'example.com/items': items } }),
    'capabilities of a client': (items) =>
      request('initialize', { ...initialize().params, capabilities: { experimental: { items } } }),
    'a notification': (items) => notification('notifications/roots/list_changed', { _meta: { items } }),
    'a response': (items) => ({ id: 1, result: { items } }),
  },
}

describe.each(['modern', 'legacy'] as const)('the work of a message of the %s era', (era) => {
  it.each(Object.keys(values))('is linear in the number of %s', async (name) => {
    const send = await (era === 'modern' ? openModern() : openSession())
    for (const messageOf of Object.values(structures[era])) {
      await expectLinearWork((size) => send(messageOf(values[name]?.(size))))
    }
  })
})

describe('the work of a body', () => {
  const bodies: Readonly<Record<string, (size: number) => string>> = {
    spaces: (size) => ' '.repeat(size),
    'lists in lists': (size) => '['.repeat(size),
    'objects in objects': (size) => '{"a":'.repeat(size / 5),
    'a long number': (size) => `{"jsonrpc":"2.0","id":${'1'.repeat(size)},"method":"ping"}`,
    escapes: (size) => `"${'\\u0041'.repeat(size / 6)}`,
    quotes: (size) => '"'.repeat(size),
    'a batch': (size) => `[${Array.from({ length: size / 40 }, () => textOf(notification('x'))).join(',')}]`,
    'equal keys': (size) => `{${'"id":1,'.repeat(size / 7)}"a":1}`,
  }

  it.each(Object.entries(bodies))('of %s is linear', async (_, bodyOf) => {
    await expectLinearWork((size) => post(bodyOf(size), {}))
  })
})

describe('the work of a header', () => {
  const names = [
    'accept',
    'content-type',
    'origin',
    'host',
    'mcp-session-id',
    'last-event-id',
    'mcp-name',
    'mcp-method',
  ]
  const texts: Readonly<Record<string, (size: number) => string>> = {
    letters: (size) => 'a'.repeat(size),
    commas: (size) => `${',text/event-strea'.repeat(size / 17)}x`,
    'spaces in between': (size) => `a${' '.repeat(size)}a`,
    colons: (size) => `http://${':'.repeat(size)}`,
    encoded: (size) => `=?base64?${'QUFB'.repeat(size / 4)}?=`,
  }
  const send = async (method: string, headers: Headers) => {
    const body = method === 'POST' ? { body: textOf(withTasks(request('tools/list'))) } : {}
    const response = await app.fetch(new Request(url, { method, headers, ...body }))
    await response.body?.cancel()
  }

  it.each([...names, 'mcp-param-text', 'mcp-protocol-version', 'authorization', 'cookie'])(
    '%s is linear',
    async (name) => {
      for (const text of Object.values(texts)) {
        for (const method of ['POST', 'GET']) {
          await expectLinearWork((size) => send(method, new Headers({ ...types, [name]: text(size) })))
        }
      }
    },
  )

  it.each(['x-', 'mcp-param-', 'cookie'])('%s is linear in the number of such headers', async (name) => {
    await expectLinearWork((size) => {
      const headers = new Headers(types)
      for (let count = 0; count < size / 20; count++) headers.append(name === 'cookie' ? name : `${name}${count}`, 'x')
      return send('POST', headers)
    })
  })

  it('is linear in the query and the path of a URL', async () => {
    for (const text of ['a=b&', '/', '%2F', '..', '?', ';']) {
      for (const path of ['/mcp', '/sse?sessionId=', '/mcp?']) {
        await expectLinearWork((size) => {
          const target = `http://localhost${path}${text.repeat(size / text.length)}`
          return post(textOf(request('tools/list')), {}, target)
        })
      }
    }
  })
})

describe('the work of a guard', () => {
  const guards = {
    bearer: bearer({
      audience: 'https://x.test/mcp',
      issuer: 'https://as.test',
      fetch: async () => new Response('', { status: 404 }),
    }),
    'API keys': apiKeys({ keys: [{ key: 'a-key-of-sufficient-length-0123456789', subject: 'a' }] } as never),
  }
  const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`member${n}`, String(n)]))
  const tokens: Readonly<Record<string, (size: number) => string>> = {
    letters: (size) => 'a'.repeat(size),
    dots: (size) => '.'.repeat(size),
    'parts of a token': (size) => 'a.'.repeat(size / 2),
    spaces: (size) => `x${' '.repeat(size)}x`,
    commas: (size) => 'a=b,'.repeat(size / 4),
    'a large header': (size) => `${segment({ alg: 'ES256', kid: 'x'.repeat(size) })}.e30.AA`,
    'many claims': (size) => `${segment({ alg: 'ES256' })}.${segment(claims(size / 30))}.AA`,
    'nested claims': (size) => `${segment({ alg: 'ES256' })}.${Buffer.from('['.repeat(size)).toString('base64url')}.AA`,
  }

  describe.each(Object.entries(guards))('%s', (_, guard) => {
    it.each(Object.keys(tokens))('with tokens of %s is linear', async (name) => {
      for (const scheme of ['Bearer ', 'DPoP ', 'Basic ', '']) {
        await expectLinearWork(async (size) => {
          const token = tokens[name]?.(size) ?? ''
          const headers = { authorization: `${scheme}${token}`, dpop: token, 'x-api-key': token }
          await guard(new Request('https://x.test/mcp', { method: 'POST', headers }))
        })
      }
    })
  })
})

describe('the work of a small message in a session', () => {
  const large = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`feature${n}`, { n: `${n}` }]))
  const messages: Messages = {
    'the end of the handshake': () => notification('notifications/initialized'),
    'a log level': (level) => request('logging/setLevel', { level }),
    'a subscription': (text) => request('resources/subscribe', { uri: `note://a/b/x1y${text}` }),
    'a change of roots': () => notification('notifications/roots/list_changed'),
    'a ping': () => request('ping'),
  }

  /** Returns the processor time of 100 messages, in ms. */
  async function workOf(sends: readonly Send[], messageOf: (text: string) => Sent): Promise<number> {
    const before = process.threadCpuUsage()
    for (let count = 0; count < 100; count++) {
      await sends[count % sends.length]?.(messageOf(count % 2 === 0 ? 'error' : 'debug'))
    }
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  }

  /** Requires that messages take as long in sessions that hold much as in others. */
  async function expectEqualWork(messageOf: (text: string) => Sent, openLarge: () => Promise<Send>): Promise<void> {
    // Collecting garbage disturbs one measurement, rarely three.
    for (let attempt = 1; ; attempt++) {
      const [large, small] = [
        [await openLarge(), await openLarge()],
        [await openSession(), await openSession()],
      ]
      const ratio = (await workOf(large, messageOf)) / Math.max(await workOf(small, messageOf), 8)
      if (attempt < 3 && ratio >= 3) continue
      expect(ratio).toBeLessThan(3)
      return
    }
  }

  it.each(Object.entries(messages))('%s does not depend on the size of its handshake', (_, messageOf) =>
    expectEqualWork(messageOf, () => openSession({ experimental: large })),
  )

  it('a subscription does not depend on the earlier ones', () =>
    expectEqualWork(messages['a subscription'] as (text: string) => Sent, async () => {
      const send = await openSession()
      for (let count = 0; count < 900; count++) {
        await send(request('resources/subscribe', { uri: `note://a/${'b'.repeat(250)}/x${count}y1` }))
      }
      return send
    }))
})

describe('the work of a line of stdio', () => {
  it.each([1, 1_000])('is linear in its length if it comes in %d pieces', async (pieces) => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const serving = serveStdio(createLawServer(), { input, output, drainTimeout: 0 })
    onTestFinished(() => serving.close())
    const answers = output.setEncoding('utf8')[Symbol.asyncIterator]()
    await expectLinearWork(async (size) => {
      const meta = { text: 'x'.repeat(size) }
      const line = Buffer.from(`${textOf(withTasks(request('tools/list', { _meta: meta })))}\n`)
      const step = Math.ceil(line.length / pieces)
      for (let at = 0; at < line.length; at += step) input.write(line.subarray(at, at + step))
      await answers.next()
    })
  })
})

it('finds work that grows with the square of the size', async () => {
  // For each `x`, the expression reads all following characters.
  const quadratic = (size: number) => expect(/x+y/.test('x'.repeat(size / 30))).toBe(false)
  await expect(expectLinearWork(quadratic)).rejects.toThrow(/ms for \d+ bytes/)
})
