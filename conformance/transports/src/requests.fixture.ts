/** Every request that a client without credentials can send, with the longest values that are allowed. */

import { LEGACY, MODERN } from './connections.fixture.ts'
import { initialize, openSession, raw } from './sockets.fixture.ts'

export type RequestOf = (index: number) => string | Buffer

export interface AnyRequest {
  readonly name: string
  /** Returns the bytes of each request, after the preparations. */
  prepare(url: string): RequestOf | Promise<RequestOf>
}

/** The longest values that are allowed, each different from the others. */
export const longest = {
  id: (index: number) => `${index}-`.padEnd(1_024, 'i'),
  name: (index: number) => `name-${index}-`.padEnd(1_024, 'n'),
  uri: (index: number) => `note://${index}/`.padEnd(8_192, 'u'),
  cursor: (index: number) => `${index}-`.padEnd(16_000, 'c'),
  /** These values are limited only by the size of the body. The floods of the largest bodies send longer values. */
  text: (index: number) => `${index}-`.padEnd(1_000, 't'),
}

const info = { name: 'n'.repeat(1_024), version: '1' }
/** Two bytes in memory for each character of a message that contains it. */
const wideText = 'ж'.repeat(200)

const TASKS = 'io.modelcontextprotocol/tasks'
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {}, extensions: { [TASKS]: {} } }

type Message = readonly [method: string, params?: object]
type MessageOf = (index: number) => Message

export function postModern(method: string, params: object, id: unknown, meta: object = {}): string {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': info,
    'io.modelcontextprotocol/logLevel': 'debug',
    'example.com/more': wideText,
    progressToken: id,
  }
  const { name, uri, taskId } = params as Readonly<Record<string, string | undefined>>
  return raw(JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...envelope, ...meta } } }), {
    'mcp-protocol-version': MODERN,
    'mcp-method': method,
    'mcp-name': name ?? uri ?? taskId,
  })
}

/** A tool call that asks for input, and is then sent again with its state and the longest answers. */
async function prepareAnswers(url: string): Promise<MessageOf> {
  const call = { name: 'ask', arguments: { text: 'x'.repeat(1_000) } }
  const { requestState } = await resultOf(url, 'tools/call', call)
  const answer = { action: 'accept', content: { name: longest.text(0) } }
  const others = Object.fromEntries(Array.from({ length: 4 }, (_, n) => [longest.name(n), answer]))
  // One of the two answers belongs to another question, so the call asks again.
  return (index) => [
    'tools/call',
    { ...call, requestState, inputResponses: index % 2 ? { name: answer } : { ...others } },
  ]
}

/** Sends a modern request and returns its result. */
async function resultOf(url: string, method: string, params: object): Promise<Record<string, unknown>> {
  const request = postModern(method, params, 1)
  const [head = '', body = ''] = request.split('\r\n\r\n')
  const headers = head.split('\r\n').slice(1)
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: headers
      .map((line) => line.split(': ') as [string, string])
      .filter(([name]) => !/^(host|content-length)$/.test(name)),
  })
  const { result, error } = (await response.json()) as { result?: Record<string, unknown>; error?: object }
  if (result === undefined) throw new Error(`${method}: expected a result, got ${JSON.stringify(error)}`)
  return result
}

async function createTask(url: string): Promise<string> {
  return (await resultOf(url, 'tools/call', { name: 'work', arguments: {} })).taskId as string
}

/** The requests of both eras. */
const common: Readonly<Record<string, MessageOf>> = {
  'tools/list': (n) => ['tools/list', { cursor: longest.cursor(n) }],
  'tools/call': (n) => ['tools/call', { name: 'echo', arguments: { text: longest.text(n) } }],
  'tools/call of an unknown tool': (n) => [
    'tools/call',
    { name: longest.name(n), arguments: { text: longest.text(n) } },
  ],
  'tools/call with invalid arguments': (n) => ['tools/call', { name: 'echo', arguments: { text: [longest.text(n)] } }],
  'prompts/list': (n) => ['prompts/list', { cursor: longest.cursor(n) }],
  'prompts/get': (n) => ['prompts/get', { name: 'greet', arguments: { text: longest.text(n) } }],
  'resources/list': (n) => ['resources/list', { cursor: longest.cursor(n) }],
  'resources/templates/list': (n) => ['resources/templates/list', { cursor: longest.cursor(n) }],
  'resources/read': (n) => ['resources/read', { uri: `memo://${n}`.padEnd(8_000, 'm') }],
  'resources/read of an unknown resource': (n) => ['resources/read', { uri: longest.uri(n).slice(0, 8_000) }],
  'completion/complete': (n) => [
    'completion/complete',
    {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'text', value: longest.text(n) },
      context: { arguments: { a: longest.text(n) } },
    },
  ],
  'a method that does not exist': (n) => [`unknown/${n}`.padEnd(8_000, 'x')],
}

const modernOnly: Readonly<Record<string, (url: string) => MessageOf | Promise<MessageOf>>> = {
  'server/discover': () => () => ['server/discover', {}],
  'tools/call that asks for input': () => (n) => ['tools/call', { name: 'ask', arguments: { text: longest.text(n) } }],
  'tools/call with answers and a state': prepareAnswers,
  'tools/call with an invalid state': () => (n) => ['tools/call', { name: 'ask', requestState: longest.text(n) }],
  'tasks/get': async (url) => {
    const taskId = await createTask(url)
    return () => ['tasks/get', { taskId }]
  },
  'tasks/get of an unknown task': () => (n) => ['tasks/get', { taskId: longest.name(n) }],
  'tasks/update': async (url) => {
    const taskId = await createTask(url)
    return (n) => [
      'tasks/update',
      { taskId, inputResponses: { [longest.name(n)]: { action: 'decline', more: longest.text(n) } } },
    ]
  },
  'tasks/cancel': async (url) => {
    const taskId = await createTask(url)
    return () => ['tasks/cancel', { taskId }]
  },
  'tools/call that ends as a task': () => (n) => [
    'tools/call',
    { name: 'repeat', arguments: { text: longest.text(n) } },
  ],
  'tools/call that becomes a task': () => (n) => ['tools/call', { name: 'work', arguments: { text: longest.text(n) } }],
}

const legacyOnly: Readonly<Record<string, MessageOf>> = {
  ping: (n) => ['ping', { more: longest.text(n) }],
  initialize: (n) => ['initialize', { ...initialize().params, more: longest.text(n) }],
  'logging/setLevel': (n) => ['logging/setLevel', { level: n % 2 ? 'debug' : 'emergency', more: longest.text(n) }],
  'resources/subscribe': (n) => ['resources/subscribe', { uri: longest.uri(n) }],
  'resources/unsubscribe': (n) => ['resources/unsubscribe', { uri: longest.uri(n) }],
}

const notifications: Readonly<Record<string, MessageOf>> = {
  'notifications/initialized': (n) => ['notifications/initialized', { more: longest.text(n) }],
  'notifications/cancelled': (n) => ['notifications/cancelled', { requestId: longest.id(n), reason: longest.text(n) }],
  'notifications/progress': (n) => [
    'notifications/progress',
    { progressToken: longest.id(n), progress: n, message: longest.text(n) },
  ],
  'notifications/roots/list_changed': (n) => ['notifications/roots/list_changed', { more: longest.text(n) }],
  'notifications of an unknown method': (n) => [`notifications/${n}`.padEnd(8_000, 'x')],
}

/** The sessions of a flood. */
export const openSessions = (url: string, count: number, revision = LEGACY) =>
  Promise.all(Array.from({ length: count }, () => openSession(url, { elicitation: {} }, revision)))
export const pick = <Item>(items: readonly Item[], index: number) => items[index % items.length] as Item

const SESSIONS = 20

function postLegacy(session: string, message: object, revision = LEGACY): string {
  return raw(JSON.stringify(message), { 'mcp-session-id': session, 'mcp-protocol-version': revision })
}

function inSession(name: string, messageOf: MessageOf, isRequest: boolean): AnyRequest {
  return {
    name: `legacy: ${name}`,
    async prepare(url) {
      const open = await openSessions(url, SESSIONS)
      return (index) => {
        const [method, params] = messageOf(index)
        const _meta = { progressToken: longest.id(index), 'example.com/more': wideText }
        const message = { jsonrpc: '2.0', method, params: { _meta, ...params } }
        return postLegacy(pick(open, index), isRequest ? { ...message, id: longest.id(index) } : message)
      }
    },
  }
}

function asModern(name: string, prepare: (url: string) => MessageOf | Promise<MessageOf>): AnyRequest {
  return {
    name: `modern: ${name}`,
    async prepare(url) {
      const messageOf = await prepare(url)
      return (index) => {
        const [method, params = {}] = messageOf(index)
        return postModern(method, params, longest.id(index))
      }
    },
  }
}

/** A request of each method of both eras in turn, with a body of the given size. */
export async function largestRequests(url: string, size: number): Promise<RequestOf> {
  const [session] = (await openSessions(url, 1)) as [string]
  const more = 'x'.repeat(size)
  const ofModern = await Promise.all(
    Object.values(modernOnly)
      .slice(0, -2)
      .map((prepare) => prepare(url)),
  )
  const texts = [
    ...[...Object.values(common), ...ofModern].map((messageOf) => (index: number) => {
      const [method, params] = messageOf(index)
      return postModern(method, { ...params, more }, index)
    }),
    ...[...Object.values(common), ...Object.values(legacyOnly)].map((messageOf) => (index: number) => {
      const [method, params] = messageOf(index)
      return postLegacy(session, { jsonrpc: '2.0', id: index, method, params: { ...params, more } })
    }),
    ...Object.values(notifications).map((messageOf) => (index: number) => {
      const [method, params] = messageOf(index)
      return postLegacy(session, { jsonrpc: '2.0', method, params: { ...params, more } })
    }),
    (index: number) => postLegacy(session, { jsonrpc: '2.0', id: index, result: { more } }),
  ]
  return (index) => pick(texts, index)(index)
}

const headers = (lines: Readonly<Record<string, string>>) =>
  Object.entries({ host: '127.0.0.1', accept: 'text/event-stream', ...lines })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
const plain = (start: string, lines: Readonly<Record<string, string>> = {}) =>
  `${start} HTTP/1.1\r\n${headers(lines)}\r\n`

/** Requests that are no single message. */
const others: readonly AnyRequest[] = [
  {
    name: 'legacy: responses to no request',
    async prepare(url) {
      const open = await openSessions(url, SESSIONS)
      return (index) =>
        postLegacy(pick(open, index), { jsonrpc: '2.0', id: longest.id(index), result: { text: longest.text(index) } })
    },
  },
  {
    name: 'legacy: handshakes with long values',
    prepare: () => {
      const { params } = initialize(LEGACY, { ...capabilities, experimental: { a: { b: wideText } } })
      return (index) =>
        raw(JSON.stringify({ ...initialize(), id: longest.id(index), params: { ...params, clientInfo: info } }))
    },
  },
  {
    name: 'legacy: batches of a request, a notification and a response',
    async prepare(url) {
      const open = await openSessions(url, SESSIONS, '2025-03-26')
      return (index) => {
        const [method, params] = (common['tools/call'] as MessageOf)(index)
        const items = [
          { jsonrpc: '2.0', id: longest.id(index), method, params },
          { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: longest.id(index) } },
          { jsonrpc: '2.0', id: longest.id(index), result: {} },
          { invalid: longest.text(index) },
        ]
        return raw(JSON.stringify(items), { 'mcp-session-id': pick(open, index) })
      }
    },
  },
  {
    name: 'legacy: DELETE of sessions that are then opened again',
    async prepare(url) {
      const open = await openSessions(url, 1_000)
      return (index) => {
        const session = open[index]
        return index % 2 || session === undefined
          ? raw(JSON.stringify(initialize()))
          : plain('DELETE /mcp', { 'mcp-session-id': session })
      }
    },
  },
  {
    name: 'legacy: GET with a Last-Event-ID of no event',
    async prepare(url) {
      const open = await openSessions(url, SESSIONS)
      return (index) => {
        const session = pick(open, index)
        const id = `${session}~post~${index}-`.padEnd(6_000, 'e')
        return plain('GET /mcp', { 'mcp-session-id': session, 'last-event-id': `${id}.1-0` })
      }
    },
  },
  {
    name: 'OPTIONS',
    prepare: () => (index) =>
      plain(`OPTIONS /mcp?${longest.text(index)}`, {
        origin: `http://localhost:${index % 60_000}`,
        'access-control-request-method': 'POST',
      }),
  },
  { name: 'PUT', prepare: () => (index) => plain(`PUT /mcp?${longest.text(index)}`) },
  { name: 'wrong paths', prepare: () => (index) => plain(`GET /${longest.text(index)}`, { accept: 'text/html' }) },
  { name: 'the page of the endpoint', prepare: () => () => plain('GET /mcp', { accept: 'text/html' }) },
  {
    name: 'foreign hosts and origins',
    prepare: () => (index) => raw('{}', { host: `${index}.example.com`, origin: `http://${'o'.repeat(7_000)}` }),
  },
  { name: 'bodies that are not JSON', prepare: () => (index) => raw(`{"${longest.text(index)}`) },
  {
    name: 'messages to unknown HTTP+SSE connections',
    prepare: () => (index) => raw('{}').replace('/mcp', `/sse?sessionId=${longest.text(index)}`),
  },
]

export const requests: readonly AnyRequest[] = [
  ...Object.entries(common).map(([name, messageOf]) => asModern(name, () => messageOf)),
  ...Object.entries(modernOnly).map(([name, prepare]) => asModern(name, prepare)),
  ...Object.entries({ ...common, ...legacyOnly }).map(([name, messageOf]) => inSession(name, messageOf, true)),
  ...Object.entries(notifications).map(([name, messageOf]) => inSession(name, messageOf, false)),
  ...others,
]
