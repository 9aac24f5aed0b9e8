/** The most expensive requests that a client without credentials can send, in both eras. */

import { connect, type Socket } from 'node:net'
import { LEGACY, modern } from './connections.fixture.ts'
import { largestRequests, longest, openSessions, pick, postModern, type RequestOf } from './requests.fixture.ts'
import { initialize, raw, rawCall, rawLegacy, rawModern } from './sockets.fixture.ts'

const LARGEST_BODY = 4 * 1024 * 1024
const LARGEST_HEADERS = 15_000

/** A flood of requests. Each socket sends its requests without waiting for responses. */
export interface Flood {
  readonly name: string
  readonly sockets: number
  /** How many requests each socket sends. Default: 1. */
  readonly each?: number
  /** Whether the client reads the responses. Default: false. */
  readonly reads?: boolean
  /** The largest number of requests of a socket that wait for their responses. Default: no limit. */
  readonly window?: number
  /**
   * Returns the bytes of one request, after the preparations.
   *
   * @param open opens another connection to the server, until the end of the flood
   */
  prepare(url: string, open: () => Socket): RequestOf | Promise<RequestOf>
}

export interface FloodResult {
  /** The number of requests that the server has read. */
  readonly count: number
  /** The number of responses, by status. */
  readonly statuses: Readonly<Record<string, number>>
  close(): void
}

/** The longest time of a flood, in ms. */
const LONGEST = 5_000

/** Sends a flood; resolves when everything is sent, when the server has read nothing for half a second, or after five. */
export async function send(flood: Flood, url: string): Promise<FloodResult> {
  const { each = 1, reads = false, window = Number.POSITIVE_INFINITY } = flood
  const statuses: Record<string, number> = {}
  const sockets: Socket[] = []
  let progress = performance.now()
  let count = 0
  const note = () => {
    progress = performance.now()
  }
  function open(): Socket {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
    sockets.push(socket)
    return socket.on('error', () => {})
  }
  const requestOf = await flood.prepare(url, open)
  async function run(index: number): Promise<void> {
    const socket = open()
    let answered = 0
    let onAnswer = () => {}
    const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    if (reads) {
      readStatuses(socket, (status) => {
        statuses[status] = (statuses[status] ?? 0) + 1
        answered += 1
        note()
        onAnswer()
      })
    } else socket.pause()
    for (let n = 0; n < each && !socket.destroyed; n++) {
      const sent = new Promise<void>((resolve) => void socket.write(requestOf(index * each + n), () => resolve()))
      await Promise.race([sent, ended])
      count += 1
      note()
      if (n - answered < window) continue
      const hasAnswer = new Promise<void>((resolve) => {
        onAnswer = resolve
      })
      await Promise.race([hasAnswer, ended])
    }
  }
  const end = performance.now() + LONGEST
  const idle = async () => {
    while (performance.now() - progress < 500 && performance.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const all = Promise.all(Array.from({ length: flood.sockets }, (_, index) => run(index)))
  await Promise.race([all, idle()])
  // The answers to the last requests of a window arrive soon; others may never arrive.
  const expected = flood.sockets * each
  while (reads && Object.values(statuses).reduce((sum, each) => sum + each, 0) < expected) {
    if (performance.now() - progress > 500 || performance.now() > end) break
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return {
    count,
    statuses,
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

const STATUS = /HTTP\/1\.1 (\d{3})/g
const STATUS_LENGTH = 12

/** Calls `onStatus` with the status of each response. */
function readStatuses(socket: Socket, onStatus: (status: string) => void): void {
  let rest = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    const text = rest + chunk
    let end = 0
    for (const match of text.matchAll(STATUS)) {
      end = match.index + STATUS_LENGTH
      onStatus(match[1] as string)
    }
    // The end of the chunk may be a part of the next status line.
    rest = text.slice(Math.max(end, text.length - STATUS_LENGTH + 1))
  })
}

const REST = 1_000
/** JSON that takes far more memory than its text. */
const wide = (bytes: number) => `[${'{},'.repeat(Math.floor((bytes - REST) / 3))}0]`
const long = (bytes: number) => 'x'.repeat(bytes - REST)

const legacyPost = (session: string, body: string) => raw(body, rawLegacy(session).headers(''))

const getStream = (session: string) =>
  `GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\nmcp-session-id: ${session}\r\n\r\n`

/** A call whose arguments are the given JSON. */
function callWith(json: string, tool: string, id: number): string {
  return raw(rawModern.body(id, tool, { text: 'x' }).replace('"text":"x"', `"more":${json}`), rawModern.headers(tool))
}

const toolCall = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'tools/call',
  params: { name, arguments: args },
})

/** Opens an HTTP+SSE connection and returns the path for its messages. Reads nothing more, unless `reads`. */
function openSse(open: () => Socket, reads = false): Promise<string> {
  const socket = open()
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text = (text + chunk.toString('latin1')).slice(-1_000)
      const path = /data: (\/sse\?sessionId=\S+)/.exec(text)?.[1]
      if (path === undefined) return
      if (!reads) socket.pause()
      resolve(path)
    })
    socket.write('GET /sse HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n')
  })
}

function listen(id: number, uris: readonly string[]): string {
  const params = modern({ notifications: { toolsListChanged: true, resourceSubscriptions: uris } })
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params })
  return raw(body, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' })
}

export const floods: readonly Flood[] = [
  {
    name: 'handshakes with the largest facts about the client',
    sockets: 20,
    each: 20,
    reads: true,
    prepare: () => {
      const experimental = JSON.parse(`{"a":{"b":${wide(60_000)}}}`)
      const message = initialize(LEGACY, { experimental })
      message.params.clientInfo.name = 'x'.repeat(1_000)
      return () => raw(JSON.stringify(message))
    },
  },
  {
    name: '10,000 handshakes',
    sockets: 50,
    each: 200,
    reads: true,
    prepare: () => () => raw(JSON.stringify(initialize())),
  },
  {
    name: '3,000 legacy calls that wait for input',
    sockets: 3_000,
    async prepare(url) {
      const open = await openSessions(url, 100)
      return (index) => rawCall(rawLegacy(pick(open, index)), index, 'ask')
    },
  },
  {
    name: 'legacy calls that wait for input with the largest arguments',
    sockets: 150,
    async prepare(url) {
      const open = await openSessions(url, 10)
      const args = long(LARGEST_BODY)
      return (index) => rawCall(rawLegacy(pick(open, index)), index, 'ask', { args })
    },
  },
  {
    name: 'modern calls that run with the largest arguments',
    sockets: 150,
    prepare: () => {
      const args = long(LARGEST_BODY)
      return (index) => rawCall(rawModern, index, 'never', { args })
    },
  },
  {
    name: 'requests of each method with the largest bodies',
    sockets: 3,
    each: 60,
    reads: true,
    window: 1,
    prepare: async (url) => {
      const requestOf = await largestRequests(url, LARGEST_BODY - 40_000)
      return requestOf
    },
  },
  {
    name: 'tasks that run with the largest arguments',
    sockets: 3,
    each: 60,
    reads: true,
    window: 1,
    prepare: () => {
      const request = Buffer.from(
        postModern('tools/call', { name: 'work', arguments: { args: long(LARGEST_BODY - 4_000) } }, 1),
      )
      return () => request
    },
  },
  {
    name: 'modern calls that run with arguments of many objects',
    sockets: 100,
    prepare: () => {
      const json = wide(2_900_000)
      return (index) => callWith(json, 'never', index)
    },
  },
  {
    name: '3,000 modern calls that run with long ids and progress tokens',
    sockets: 3_000,
    prepare: () => (index) => {
      const id = `${index}`.padEnd(1_000, 'x')
      const body = rawModern.body(0, 'never', { text: long(2_000) }, { progressToken: id })
      return raw(body.replace('"id":0', `"id":"${id}"`), rawModern.headers('never'))
    },
  },
  {
    name: '3,000 streams of subscriptions',
    sockets: 3_000,
    prepare: () => (index) => listen(index, []),
  },
  {
    name: 'subscriptions to the longest URIs',
    sockets: 200,
    prepare: () => {
      const uris = Array.from({ length: 400 }, (_, n) => `note://${n}/`.padEnd(8_000, 'x'))
      return (index) => listen(index, uris)
    },
  },
  {
    name: '3,000 GET streams',
    sockets: 3_000,
    async prepare(url) {
      const open = await openSessions(url, 500)
      return (index) => getStream(pick(open, index))
    },
  },
  {
    name: '3,000 HTTP+SSE connections',
    sockets: 3_000,
    prepare: () => () => 'GET /sse HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n',
  },
  {
    name: 'large JSON results that nobody reads',
    sockets: 250,
    each: 20,
    prepare: () => (index) => rawCall(rawModern, index, 'big', { size: 1_000_000 }),
  },
  {
    name: 'large results on streams that nobody reads',
    sockets: 250,
    prepare: () => (index) =>
      rawCall(rawModern, index, 'count', { times: 100, size: 500_000 }, { progressToken: index }),
  },
  {
    // These calls outlive their connections, so the server still works on them during the next floods.
    name: 'large results on streams of sessions that nobody reads',
    sockets: 250,
    async prepare(url) {
      const open = await openSessions(url, 10)
      return (index) =>
        rawCall(rawLegacy(pick(open, index)), index, 'count', { times: 20, size: 500_000 }, { progressToken: index })
    },
  },
  {
    name: 'streams that are resumed again and again, which nobody reads',
    sockets: 250,
    async prepare(url) {
      const [session] = (await openSessions(url, 1)) as [string]
      const headers = {
        ...rawLegacy(session).headers(''),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const body = rawLegacy(session).body(1, 'count', { times: 7, size: 500_000 }, { progressToken: 1 })
      const text = await (await fetch(url, { method: 'POST', headers: headers as Record<string, string>, body })).text()
      const [, first] = /^id: (.+)$/m.exec(text) as unknown as [string, string]
      return () => getStream(session).replace('accept:', `last-event-id: ${first}\r\naccept:`)
    },
  },
  {
    name: 'large results on HTTP+SSE streams that nobody reads',
    sockets: 50,
    each: 20,
    reads: true,
    async prepare(_url, open) {
      const paths = await Promise.all(Array.from({ length: 50 }, () => openSse(open)))
      const body = JSON.stringify(toolCall('big', { size: 1_000_000 }))
      return (index) => raw(body.replace('"id":0', `"id":${index}`)).replace('/mcp', pick(paths, index))
    },
  },
  {
    name: '10,000 messages on HTTP+SSE connections',
    sockets: 20,
    each: 500,
    reads: true,
    window: 25,
    async prepare(_url, open) {
      const paths = await Promise.all(Array.from({ length: 20 }, () => openSse(open, true)))
      return (index) =>
        raw(JSON.stringify({ ...toolCall('echo', { text: longest.text(index) }), id: longest.id(index) })).replace(
          '/mcp',
          pick(paths, index),
        )
    },
  },
  {
    name: 'echoes of the largest arguments that nobody reads',
    sockets: 60,
    each: 2,
    prepare: () => {
      const text = long(LARGEST_BODY)
      return (index) => rawCall(rawModern, index, 'echo', { text })
    },
  },
  {
    name: 'slow bodies of almost the largest size',
    sockets: 250,
    prepare: () => {
      const whole = rawCall(rawModern, 1, 'echo', { text: long(LARGEST_BODY) })
      const part = Buffer.from(whole.slice(0, -10))
      return () => part
    },
  },
  {
    name: '3,000 bodies that stop after their first bytes',
    sockets: 3_000,
    prepare: () => {
      const part = rawCall(rawModern, 1, 'echo', { text: long(30_000) }).slice(0, 20_000)
      return () => part
    },
  },
  {
    name: 'the largest bodies, of many objects',
    sockets: 20,
    each: 2,
    reads: true,
    prepare: () => {
      const request = Buffer.from(callWith(wide(2_900_000), 'echo', 1))
      return () => request
    },
  },
  {
    name: 'bodies of more values than allowed',
    sockets: 20,
    each: 2,
    reads: true,
    prepare: () => {
      const request = Buffer.from(callWith(wide(4_000_000), 'echo', 1))
      return () => request
    },
  },
  {
    name: '10,000 requests on one connection that reads nothing',
    sockets: 1,
    each: 10_000,
    prepare: () => (index) => rawCall(rawModern, index, 'echo', { text: long(20_000) }),
  },
  {
    name: '3,000 headers that do not end',
    sockets: 3_000,
    prepare: () => {
      const head = `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nmcp-session-id: ${'x'.repeat(LARGEST_HEADERS)}`
      return () => head
    },
  },
  {
    name: '10,000 requests with unknown sessions and the longest headers',
    sockets: 50,
    each: 200,
    reads: true,
    prepare: () => (index) =>
      `GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\nmcp-session-id: ${`${index}`.padEnd(7_000, 'x')}\r\nlast-event-id: ${'y'.repeat(7_000)}\r\n\r\n`,
  },
  {
    name: '10,000 subscriptions of sessions to the longest URIs',
    sockets: 100,
    each: 100,
    reads: true,
    async prepare(url) {
      const open = await openSessions(url, 100)
      return (index) => {
        const params = { uri: `note://${index}/`.padEnd(8_000, 'x') }
        return legacyPost(
          pick(open, Math.floor(index / 100)),
          JSON.stringify({ jsonrpc: '2.0', id: index, method: 'resources/subscribe', params }),
        )
      }
    },
  },
  {
    name: 'batches of the most calls with large results',
    sockets: 50,
    async prepare(url) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(initialize('2025-03-26')),
      })
      const session = response.headers.get('mcp-session-id') as string
      const item = (id: number) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'big', arguments: { size: 300_000 } },
      })
      return (index) =>
        raw(JSON.stringify(Array.from({ length: 100 }, (_, n) => item(index * 100 + n))), { 'mcp-session-id': session })
    },
  },
  {
    name: '10,000 cancellations with the longest reasons',
    sockets: 50,
    each: 200,
    reads: true,
    async prepare(url) {
      const open = await openSessions(url, 10)
      return (index) =>
        legacyPost(
          pick(open, index),
          JSON.stringify({
            jsonrpc: '2.0',
            method: 'notifications/cancelled',
            params: { requestId: index, reason: long(50_000) },
          }),
        )
    },
  },
  {
    name: '10,000 responses to no request',
    sockets: 50,
    each: 200,
    reads: true,
    async prepare(url) {
      const open = await openSessions(url, 10)
      return (index) =>
        legacyPost(pick(open, index), JSON.stringify({ jsonrpc: '2.0', id: index, result: { text: long(50_000) } }))
    },
  },
]
