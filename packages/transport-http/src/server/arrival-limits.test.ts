import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterEach, describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { type ServeHttpOptions, serveHttp } from '../node/serve-http.ts'
import type { EndpointOptions } from './options.ts'
import { gate, HandWritten, json, MODERN, modern } from './server.fixture.ts'

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const lists = new HandWritten({ 'tools/list': () => ({ tools: [] }) })
const body = JSON.stringify(modern('tools/list'))
const headers = {
  'content-type': 'application/json',
  'mcp-protocol-version': MODERN,
  'mcp-method': 'tools/list',
}

interface Sent {
  /** The parts of the body, and how long to wait before each, in ms. */
  readonly parts: readonly (readonly [wait: number, text: string])[]
  readonly more?: Readonly<Record<string, string>>
  /** Whether the body ends with its parts. Default: true. */
  readonly ends?: boolean
}

/** Sends a request, and gives the status and the message of the error in the answer, or its result. */
type Send = (sent: Sent) => Promise<[number, unknown]>

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function overWeb(options: EndpointOptions, server = lists): Send {
  const app = mcp(server, options)
  return async ({ parts, more, ends = true }) => {
    const stream = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (const [wait, text] of parts) {
          await pause(wait)
          controller.enqueue(new TextEncoder().encode(text))
        }
        if (ends) controller.close()
      },
    })
    const init = { method: 'POST', headers: { ...headers, ...more }, body: stream, duplex: 'half' }
    const response = await app.fetch(new Request('http://localhost/mcp', init))
    return [response.status, said(await json(response))]
  }
}

async function overSocket(port: number, { parts, more = {}, ends = true }: Sent): Promise<[number, unknown]> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  const { promise, open } = gate<string>()
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
    if (text.endsWith('}')) open(text)
  })
  socket.on('close', () => open(text)).on('error', () => {})
  const length = parts.reduce((sum, [, part]) => sum + part.length, ends ? 0 : 1)
  const all = Object.entries({ host: '127.0.0.1', ...headers, ...more, 'content-length': length })
  socket.write(`POST /mcp HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  for (const [wait, part] of parts) {
    await pause(wait)
    socket.write(part)
  }
  const answer = await promise
  socket.destroy()
  return [Number(answer.slice(9, 12)), said(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))))]
}

function said(answer: object): unknown {
  const { error, result } = answer as { error?: { message: string }; result?: unknown }
  return error?.message ?? result
}

const adapters: Record<string, (options: EndpointOptions, server?: HandWritten) => Promise<Send>> = {
  'requests of the web': async (options, server) => overWeb(options, server),
  async 'requests of Node'(options, server = lists) {
    const listener = getRequestListener(mcp(server, options).fetch)
    const http: Server = createServer({ maxHeaderSize: 100_000 }, listener).listen(0, '127.0.0.1')
    await new Promise((listening) => http.once('listening', listening))
    closers.push(() => http.close().closeAllConnections())
    return (sent) => overSocket((http.address() as AddressInfo).port, sent)
  },
  async serveHttp(options, server = lists) {
    const { port, close } = await serveHttp(server, { port: 0, ...options })
    closers.push(close)
    return (sent) => overSocket(port, sent)
  },
}

describe.each(Object.entries(adapters))('%s', (_, open) => {
  it('may arrive in parts within that time, and be answered later', async () => {
    const slow = new HandWritten({ 'tools/list': () => pause(300).then(() => ({ tools: [] })) })
    const send = await open({}, slow)
    const parts = [[20, body.slice(0, 9)] as const, [20, body.slice(9)] as const]
    expect(await send({ parts })).toEqual([200, { tools: [] }])
  })

  it('whose bodies stall are refused by the number and the option, and make room for others', async () => {
    const send = await open({ bodyTimeout: 500, limits: { running: 1 } })
    const stalled = send({ parts: [[0, body.slice(0, 9)], [150, body.slice(9, 20)]], ends: false }) // biome-ignore format: one line
    const started = performance.now()
    expect(await stalled).toEqual([408, 'No byte of the body arrived within 500 ms (bodyTimeout)'])
    expect(performance.now() - started).toBeGreaterThan(630)
    expect(await send({ parts: [[0, body]] })).toEqual([200, { tools: [] }])
    const slow = [0, 9, 18, 27].map((at) => [150, body.slice(at, at === 27 ? undefined : at + 9)] as const)
    expect(await send({ parts: slow })).toEqual([200, { tools: [] }])
  })

  it('count as running while they arrive', async () => {
    const send = await open({ limits: { running: 2 } })
    const arriving = [1, 2].map(() => send({ parts: [[0, body.slice(0, 9)], [200, body.slice(9)]] })) // biome-ignore format: one line
    await pause(80)
    const refused = [503, expect.stringContaining('at most 2 (limits.running)')]
    expect(await send({ parts: [[0, body]] })).toEqual(refused)
    expect(await Promise.all(arriving)).toEqual([1, 2].map(() => [200, { tools: [] }]))
    expect(await send({ parts: [[0, body]] })).toEqual([200, { tools: [] }])
  })

  it('count from their arrival, also if they arrive together', async () => {
    const held = gate<object>()
    const server = new HandWritten({ 'tools/list': () => held.promise })
    const send = await open({ limits: { running: 2 } }, server)
    const all = Array.from({ length: 12 }, () => send({ parts: [[0, body]] }))
    let refused = 0
    for (const each of all) void each.then(([status]) => (refused += status === 503 ? 1 : 0))
    while (refused < 10) await pause(1)
    expect(server.exchanges).toHaveLength(2)
    held.open({ tools: [] })
    expect((await Promise.all(all)).map(([status]) => status).sort()).toEqual([200, 200, ...Array(10).fill(503)])
  })
})

describe('the limits of serveHttp', () => {
  const open = adapters.serveHttp as (options: ServeHttpOptions) => Promise<Send>

  it('reject requests that arrive too slowly, with the number and the option', async () => {
    const send = await open({ requestTimeout: 100 })
    const started = performance.now()
    const refused = [408, 'The request did not arrive within 100 ms (requestTimeout)']
    expect(await send({ parts: [[0, '{']], ends: false })).toEqual(refused)
    expect(performance.now() - started).toBeGreaterThan(95)
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  it('reject headers that are too large, with the number and the option', async () => {
    const send = await open({ maxHeaderSize: 2_000 })
    const refused = [431, 'The headers are larger than 2000 bytes (maxHeaderSize)']
    expect(await send({ parts: [[0, body]], more: { x: 'y'.repeat(2_000) } })).toEqual(refused)
    expect(await send({ parts: [[0, body]], more: { x: 'y'.repeat(1_500) } })).toEqual([200, { tools: [] }])
  })

  it('accept headers up to the limit', async () => {
    const send = await open({ maxHeaderSize: 50_000 })
    expect(await send({ parts: [[0, body]], more: { x: 'y'.repeat(40_000) } })).toEqual([200, { tools: [] }])
  })

  it('limit headers to 16 KiB by default', async () => {
    const send = await open({})
    expect(await send({ parts: [[0, body]], more: { x: 'y'.repeat(17_000) } })).toEqual([
      431,
      'The headers are larger than 16384 bytes (maxHeaderSize)',
    ])
  })
})
