/** Raw HTTP requests, and sockets that collect their input. */

import { connect, type Socket } from 'node:net'
import { MODERN, modern } from './connections.fixture.ts'

export interface RawSocket {
  readonly socket: Socket
  /** Returns all input so far. */
  readonly text: () => string
  /** Resolves to all input once it matches; rejects if the socket closes before. */
  until(pattern: RegExp): Promise<string>
  /** Resolves to all input when the socket is closed. */
  readonly closed: Promise<string>
}

export function dial(port: number): Promise<RawSocket> {
  return new Promise((resolve, reject) => {
    let text = ''
    const checks = new Set<() => void>()
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
      for (const check of checks) check()
    })
    socket.on('end', () => socket.end())
    const closed = new Promise<string>((done) => void socket.on('close', () => done(text)))
    function until(pattern: RegExp): Promise<string> {
      return new Promise((found, lost) => {
        const check = () => {
          if (!pattern.test(text)) return
          checks.delete(check)
          found(text)
        }
        checks.add(check)
        check()
        void closed.then(() =>
          lost(new Error(`socket: expected input that matches ${pattern}, got ${text.slice(-500)}`)),
        )
      })
    }
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.on('error', () => {})
      resolve({ socket, text: () => text, until, closed })
    })
  })
}

type Headers = Readonly<Record<string, string | undefined>>

/** Returns a POST request with the correct length; headers with the value `undefined` are omitted. */
export function raw(body: string, headers: Headers = {}): string {
  const all: Headers = {
    host: '127.0.0.1',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]))
  return `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

export const call = (id: number, tool: string, args: object = {}, meta: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: tool, arguments: args, _meta: meta },
})

/** Creates raw requests of one era. */
export interface RawEra {
  readonly name: string
  body(id: number, tool: string, args?: object, meta?: object): string
  readonly headers: (tool: string) => Headers
}

export const rawModern: RawEra = {
  name: 'modern',
  body: (id, tool, args, meta) => {
    const message = call(id, tool, args, meta)
    return JSON.stringify({ ...message, params: modern(message.params) })
  },
  headers: (tool) => ({ 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': tool }),
}

/** Creates raw requests of an open session. */
export function rawLegacy(session: string): RawEra {
  return {
    name: 'legacy',
    body: (id, tool, args, meta) => JSON.stringify(call(id, tool, args, meta)),
    headers: () => ({ 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session }),
  }
}

/** Returns a complete HTTP request for a tool call. */
export function rawCall(era: RawEra, id: number, tool: string, args: object = {}, meta: object = {}): string {
  return raw(era.body(id, tool, args, meta), era.headers(tool))
}

/** The `initialize` request. */
export const initialize = (protocolVersion = '2025-11-25', capabilities: object = {}) => ({
  jsonrpc: '2.0',
  id: 'open',
  method: 'initialize',
  params: { protocolVersion, capabilities, clientInfo: { name: 'raw', version: '1' } },
})

/** Opens a session and returns its id. */
export async function openSession(url: string, capabilities: object = {}, revision?: string): Promise<string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = (body: object, more: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { ...headers, ...more } })
  const response = await post(initialize(revision, capabilities))
  await response.text()
  const id = response.headers.get('mcp-session-id') as string
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': id })
  return id
}
