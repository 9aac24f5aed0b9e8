/** Streams of an app on Hono's server for Node, and what comes of them. */
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { JsonObject } from '@mcpx/protocol'
import type { Hono } from 'hono'
import { onTestFinished } from 'vitest'
import { HandWritten, MODERN, modern } from './server.fixture.ts'

export async function serve(app: Pick<Hono, 'fetch'>, overrideGlobalObjects = true): Promise<number> {
  const server: Server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects }))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': MODERN,
  'mcp-method': 'tools/call',
  'mcp-name': 'talk',
}
const body = JSON.stringify(modern('tools/call', { name: 'talk', arguments: {} }))

export function call(port: number): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers, body, signal: AbortSignal.timeout(4_000) })
}

/** Like that, for a client that reads only on request. */
export function callByHand(port: number): Socket {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...headers, 'content-length': String(body.length) })
  const head = lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')
  const socket = connect(port, '127.0.0.1', () => socket.write(`POST /mcp HTTP/1.1\r\n${head}\r\n\r\n${body}`))
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return socket.pause()
}

/** Says so many things of such a length, and each as soon as there is room for it. */
export function talking(count: number, length: number) {
  const told = { count: 0, isAborted: false }
  const server = new HandWritten({
    'tools/call': async (_params, exchange) => {
      exchange.signal.addEventListener('abort', () => {
        told.isAborted = true
      })
      while (told.count < count && !told.isAborted) {
        told.count += 1
        const params: JsonObject = { progressToken: 1, progress: told.count, message: 'x'.repeat(length) }
        await exchange.notify('notifications/progress', params)
      }
      return { told: told.count }
    },
  })
  return { server, told }
}

/** How far the events of a whole stream came, and what the last of them says. */
export function readTold(text: string): { progress: number[]; result: unknown } {
  const events = [...text.matchAll(/^data: ?(.+)$/gm)].map(([, data]) => JSON.parse(data as string))
  const progress = events.flatMap(({ params }) => (params === undefined ? [] : [params.progress]))
  return { progress, result: events.at(-1)?.result }
}
