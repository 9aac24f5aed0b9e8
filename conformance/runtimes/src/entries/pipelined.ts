/**
 * Sends many pipelined requests on one connection and closes the connection. Prints how the server handled the requests
 * on this Node version.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import process from 'node:process'
import { createServer } from '@mcpx/server'
import { type HttpServer, serveHttp } from '@mcpx/transport-http/node'

/** This is more than the number of listeners at which Node warns of a leak. */
const MANY = 15
const VERSION = '2026-07-28'
const CHANGES = { notifications: { toolsListChanged: true } }

const warnings: string[] = []
process.on('warning', ({ message }) => warnings.push(message))

let ran = 0
let aborted = 0
let release = (): void => {}
const released = new Promise<void>((resolve) => {
  release = resolve
})
const server = createServer({ name: 'pipelined', version: '1' }, { limits: { listens: MANY } })
  .tool('quick', {}, () => 'here')
  .tool('wait', {}, async (_, { signal }) => {
    ran += 1
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    aborted += 1
    return 'over'
  })
  .tool('uncancellable', {}, async () => {
    ran += 1
    await released
    return 'over'
  })
const http = await serveHttp(server, { port: 0 })

await sendAndClose(http, post(http, 'tools/call', { name: 'wait' }))
const calls = [ran, aborted]
await sendAndClose(http, post(http, 'subscriptions/listen', CHANGES))
const next = Array.from({ length: MANY }, () => sendAndClose(http, post(http, 'subscriptions/listen', CHANGES), 1))
const listens = (await Promise.all(next)).filter((received) => received.includes('acknowledged')).length
// The first request blocks the responses of the others.
await sendAndClose(
  http,
  post(http, 'tools/call', { name: 'uncancellable' }) + post(http, 'tools/call', { name: 'quick' }),
)
release()
const began = performance.now()
await http.drain(3_000)
const drained = performance.now() - began
process.stdout.write(`${JSON.stringify({ calls, listens, drained: drained < 500 ? 'at once' : drained, warnings })}\n`)
process.exit()

/** Sends a request `times` times, waits until it has arrived, and closes the connection; returns the received data. */
async function sendAndClose({ port }: HttpServer, text: string, times = MANY): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => {
    received += String(chunk)
  })
  await once(socket, 'connect')
  socket.write(text.repeat(times))
  await new Promise((resolve) => setTimeout(resolve, 200))
  socket.destroy()
  await new Promise((resolve) => setTimeout(resolve, 200))
  return received
}

function post(
  { port }: HttpServer,
  method: string,
  params: { readonly name?: string; readonly notifications?: object },
): string {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } })
  const lines = [
    'POST /mcp HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    `content-length: ${body.length}`,
    `mcp-protocol-version: ${VERSION}`,
    `mcp-method: ${method}`,
    ...(params.name === undefined ? [] : [`mcp-name: ${params.name}`]),
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
