/** HTTP as bytes: requests written by hand, and sockets that say what came on them. */

import { connect, type Socket } from 'node:net'
import { MODERN, modern } from './carriers.fixture.ts'

export interface Dialled {
  readonly socket: Socket
  /** All that came so far. */
  readonly text: () => string
  /** Resolves to all that came once it matches; rejects when the socket ends before. */
  until(pattern: RegExp): Promise<string>
  /** Resolves to all that came, when the socket is closed. */
  readonly closed: Promise<string>
}

export function dial(port: number): Promise<Dialled> {
  return new Promise((resolve, reject) => {
    let text = ''
    const looks = new Set<() => void>()
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
      for (const look of looks) look()
    })
    socket.on('end', () => socket.end())
    const closed = new Promise<string>((done) => void socket.on('close', () => done(text)))
    function until(pattern: RegExp): Promise<string> {
      return new Promise((found, lost) => {
        const look = () => {
          if (!pattern.test(text)) return
          looks.delete(look)
          found(text)
        }
        looks.add(look)
        look()
        void closed.then(() => lost(new Error(`It was closed before ${pattern} came: ${text.slice(-500)}`)))
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

/** A POST with a length that is right; a header that is given as `undefined` is left out. */
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

/** How one era is spoken by hand. */
export interface Spoken {
  readonly name: string
  body(id: number, tool: string, args?: object, meta?: object): string
  readonly headers: (tool: string) => Headers
}

export const spokenModern: Spoken = {
  name: 'modern',
  body: (id, tool, args, meta) => {
    const message = call(id, tool, args, meta)
    return JSON.stringify({ ...message, params: modern(message.params) })
  },
  headers: (tool) => ({ 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': tool }),
}

/** A session that is open already. */
export function spokenLegacy(session: string): Spoken {
  return {
    name: 'legacy',
    body: (id, tool, args, meta) => JSON.stringify(call(id, tool, args, meta)),
    headers: () => ({ 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session }),
  }
}

/** A whole request for a tool. */
export function rawCall(spoken: Spoken, id: number, tool: string, args: object = {}, meta: object = {}): string {
  return raw(spoken.body(id, tool, args, meta), spoken.headers(tool))
}

/** The first message of a session. */
export const initialize = (protocolVersion = '2025-11-25', capabilities: object = {}) => ({
  jsonrpc: '2.0',
  id: 'open',
  method: 'initialize',
  params: { protocolVersion, capabilities, clientInfo: { name: 'raw', version: '1' } },
})

/** Opens a session; resolves to its id. */
export async function openSession(url: string, capabilities: object = {}): Promise<string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = (body: object, more: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { ...headers, ...more } })
  const response = await post(initialize('2025-11-25', capabilities))
  await response.text()
  const id = response.headers.get('mcp-session-id') as string
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': id })
  return id
}
