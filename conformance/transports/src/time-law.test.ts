/** No request takes more than linear time in its size. */

import { createServer, type Server } from '@mcpx/server'
import { mcp } from '@mcpx/transport-http'
import { describe, expect, it, vi } from 'vitest'
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
  },
} as const

const server = createServer({ name: 'law', version: '1' })
  .tool('strings', { input: strings }, () => 'x')
  .tool('ask', {}, async (_args, ctx) => {
    const { action } = await ctx.elicit('name', { message: 'Who?', schema: { type: 'object', properties: {} } })
    return action
  })
  .prompt('greet', { args: { type: 'object', properties: { who: { type: 'string' } } } }, () => 'x')
  .resource('note://{a}/{b}/x{c}y{d}', { name: 'note' }, () => 'x') as unknown as Server

const app = mcp(server, { sse: '/sse' })
const url = 'http://localhost/mcp'
const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', host: 'localhost' }

async function openSession(): Promise<string> {
  const response = await app.request(url, { method: 'POST', headers: types, body: JSON.stringify(initialize()) })
  return response.headers.get('mcp-session-id') as string
}

type Post = (method: string, params: object, id?: unknown) => Request

const modernPost: Post = (method, params, id = 1) =>
  new Request(url, {
    method: 'POST',
    headers: { ...types, 'mcp-protocol-version': MODERN, 'mcp-method': encodeURI(method.slice(0, 100)) },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: modern(params) }),
  })

const legacyPost =
  (session: string): Post =>
  (method, params, id = 1) =>
    new Request(url, {
      method: 'POST',
      headers: { ...types, 'mcp-session-id': session, 'mcp-protocol-version': LEGACY },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    })

const members: Readonly<Record<string, (text: string) => [method: string, params: object, id?: unknown]>> = {
  'the name of a tool': (text) => ['tools/call', { name: text }],
  'arguments that match no pattern': (text) => ['tools/call', { name: 'strings', arguments: { text } }],
  'an e-mail address': (email) => ['tools/call', { name: 'strings', arguments: { email } }],
  'a URI in arguments': (uri) => ['tools/call', { name: 'strings', arguments: { uri } }],
  'a date': (date) => ['tools/call', { name: 'strings', arguments: { date } }],
  'a request state': (requestState) => ['tools/call', { name: 'ask', requestState }],
  'the URI of a resource': (uri) => ['resources/read', { uri }],
  'the URI of a subscription': (uri) => ['resources/subscribe', { uri }],
  'a cursor': (cursor) => ['tools/list', { cursor }],
  'the name of a prompt': (name) => ['prompts/get', { name }],
  'the argument of a prompt': (who) => ['prompts/get', { name: 'greet', arguments: { who } }],
  'a value to complete': (value) => [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: value }, argument: { name: 'a', value } },
  ],
  'a log level': (level) => ['logging/setLevel', { level }],
  'a method': (text) => [text, {}],
  'an id': (text) => ['tools/list', {}, text],
  'a progress token': (progressToken) => ['tools/list', { _meta: { progressToken } }],
  'a key of metadata': (text) => ['tools/list', { _meta: { [text]: 1 } }],
  'the revision of a handshake': (protocolVersion) => ['initialize', { ...initialize().params, protocolVersion }],
}

/** Values with many parts. */
const values: Readonly<Record<string, (size: number) => unknown>> = {
  'different objects': (size) => Array.from({ length: size / 10 }, (_, n) => ({ n })),
  'different strings': (size) => Array.from({ length: size / 10 }, (_, n) => `${n}`),
  'long strings of one length': (size) => Array.from({ length: size / 20_000 }, (_, n) => `${n}`.padEnd(20_000, 'x')),
  'different keys': (size) => Object.fromEntries(Array.from({ length: size / 10 }, (_, n) => [`k${n}`, n])),
  'empty lists': (size) => Array.from({ length: size / 3 }, () => []),
}

const headers = [
  'accept',
  'content-type',
  'origin',
  'host',
  'mcp-session-id',
  'last-event-id',
  'mcp-name',
  'mcp-method',
]
const headerTexts: Readonly<Record<string, (size: number) => string>> = {
  letters: (size) => 'a'.repeat(size),
  commas: (size) => `${',text/event-strea'.repeat(size / 17)}x`,
  'spaces in between': (size) => `a${' '.repeat(size)}a`,
  colons: (size) => `http://${':'.repeat(size)}`,
}

/** Requires that the work of a request grows no faster than its size. */
function expectLinear(requestOf: (size: number) => Request): Promise<void> {
  return expectLinearWork(async (size) => {
    const response = await app.fetch(requestOf(size))
    if (response.headers.get('content-type') !== 'text/event-stream') await response.text()
    else await response.body?.cancel()
  })
}

describe.each(['modern', 'legacy'])('the work of a request of the %s era', (era) => {
  const postOf = async () => (era === 'modern' ? modernPost : legacyPost(await openSession()))

  it.each(Object.keys(members))('grows no faster than %s', async (member) => {
    const post = await postOf()
    for (const text of Object.values(adversarialTexts)) {
      await expectLinear((size) => post(...(members[member] as (text: string) => [string, object])(text(size))))
    }
  })

  it.each(Object.keys(values))('grows no faster than %s in arguments, filters and metadata', async (name) => {
    const post = await postOf()
    const value = values[name] as (size: number) => unknown
    const messages: Readonly<Record<string, (items: unknown) => object>> = {
      'tools/call': (items) => ({ name: 'strings', arguments: { items, ...(items as object) } }),
      'tools/list': (items) => ({ _meta: { 'example.com/items': items } }),
      'subscriptions/listen': (items) => ({ notifications: { resourceSubscriptions: items } }),
      initialize: (items) => ({ ...initialize().params, capabilities: { experimental: { items } } }),
    }
    for (const [method, paramsOf] of Object.entries(messages)) {
      await expectLinear((size) => post(method, paramsOf(value(size))))
    }
  })
})

describe('the work of a header', () => {
  it.each(headers)('%s grows no faster than the header', async (header) => {
    for (const text of Object.values(headerTexts)) {
      for (const method of ['POST', 'GET']) {
        await expectLinear((size) => {
          const request = modernPost('tools/list', {})
          const all = new Headers(request.headers)
          all.set(header, text(size))
          return new Request(url, { method, headers: all, ...(method === 'POST' && { body: '{}' }) })
        })
      }
    }
  })
})

it('finds work that grows with the square of the size', async () => {
  const quadratic = (size: number) => {
    // For each x, the expression looks at all that follow.
    expect(/x+y/.test('x'.repeat(size / 30))).toBe(false)
    return modernPost('tools/list', {})
  }
  await expect(expectLinear(quadratic)).rejects.toThrow('ms for 960000')
})
