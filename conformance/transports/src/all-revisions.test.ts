/** One server with concurrent clients of every revision, over each transport. */

import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer, connect as dialTcp } from 'node:net'
import { join } from 'node:path'
import { type Client, connect } from '@mcpx/client'
import { type Connector, REVISIONS, type Revision } from '@mcpx/protocol'
import { http } from '@mcpx/transport-http/client'
import type { ServeHttpOptions } from '@mcpx/transport-http/node'
import { overStreams, serveStdio, spawn } from '@mcpx/transport-stdio'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { handshake, modern, serve } from './connections.fixture.ts'
import { createHost } from './host.fixture.ts'
import { compileCache, fromSource } from './hosts.fixture.ts'
import { dial } from './sockets.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

/** Creates a connector for a client of the given revision. */
type ConnectorFactory = (revision: Revision) => Connector

async function overHttp(options: ServeHttpOptions = {}): Promise<ConnectorFactory> {
  const { url } = await serve(createHost().server, { sse: '/sse', ...options })
  // The oldest revision uses the HTTP+SSE transport.
  return (revision) => http(revision === '2024-11-05' ? url.replace('/mcp', '/sse') : url)
}

async function overSockets(): Promise<ConnectorFactory> {
  const { server } = createHost()
  const tcp = createTcpServer((socket) => void serveStdio(server, { input: socket, output: socket }))
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  onTestFinished(() => void tcp.close())
  return () =>
    overStreams(() => {
      const socket = dialTcp((tcp.address() as AddressInfo).port, '127.0.0.1')
      return { input: socket, output: socket }
    })
}

const child = [...fromSource, join(import.meta.dirname, 'stdio-host.fixture.ts'), 'serve']
const overPipes: ConnectorFactory = () => spawn(process.execPath, child, { stderr: 'ignore', env: compileCache })

const textOf = async (call: ReturnType<Client['callTool']>) => ((await call).content[0] as { text: string }).text

/** Makes concurrent calls with one client. */
async function useAll(client: Client, answers: boolean): Promise<void> {
  const received: number[] = []
  const onProgress = ({ progress }: { progress: number }) => void received.push(progress)
  const echoes = Array.from({ length: 20 }, (_, n) => textOf(client.callTool('echo', { text: `é ${n}` })))
  const [echoed, counted, large, listed] = await Promise.all([
    Promise.all(echoes),
    textOf(client.callTool('count', { times: 5, pause: 5 }, { onProgress })),
    textOf(client.callTool('big', { size: 300_000 })),
    client.listTools().all(),
  ])
  expect(echoed).toEqual(echoes.map((_, n) => `é ${n}`))
  expect(counted).toMatch(/^counted by \d+$/)
  expect(received).toEqual([1, 2, 3, 4, 5])
  expect(large.length).toBe(300_000)
  expect(listed.map(({ name }) => name)).toContain('echo')
  if (answers) expect(await textOf(client.callTool('ask'))).toMatch(/^accept received by \d+$/)
}

async function useInEveryRevision(createConnector: ConnectorFactory, asks = true): Promise<void> {
  const clients = await Promise.all(
    REVISIONS.map(async (revision) => {
      const onElicit = () => ({ action: 'accept' as const, content: { name: 'Ada' } })
      const client = await connect(createConnector(revision), { era: revision, timeout: 8_000, onElicit })
      onTestFinished(() => client.close())
      expect(client.revision).toBe(revision)
      return client
    }),
  )
  await Promise.all(clients.map((client) => useAll(client, asks && client.revision >= '2025-06-18')))
  for (const client of clients) await client.close()
}

describe('one server with concurrent clients of all revisions', () => {
  it('works over HTTP', async () => useInEveryRevision(await overHttp()))
  it('works over HTTP without sessions', async () => useInEveryRevision(await overHttp({ sessions: false }), false))
  it('works over HTTP with JSON responses only, without progress', async () => {
    const { url } = await serve(createHost().server, { responses: 'json' })
    const types = new Set<string | null>()
    const recordingFetch: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (response.ok && init?.method === 'POST') types.add(response.headers.get('content-type'))
      return response
    }
    for (const revision of REVISIONS.filter((each) => each > '2024-11-05')) {
      const client = await connect(http(url, { fetch: recordingFetch }), { era: revision })
      onTestFinished(() => client.close())
      const received: unknown[] = []
      const call = client.callTool('count', { times: 3 }, { onProgress: (each) => void received.push(each) })
      expect(await textOf(call)).toMatch(/^counted by/)
      expect(received).toEqual([])
    }
    expect([...types].filter((type) => type !== null)).toEqual(['application/json'])
  })
  it('works over sockets', async () => useInEveryRevision(await overSockets()))
  it('works over pipes', async () => useInEveryRevision(overPipes))
})

it('one stdio connection carries requests of both eras and answers each in its era [S-100, S-101, C-030]', async () => {
  const { server } = createHost()
  const tcp = createTcpServer((socket) => void serveStdio(server, { input: socket, output: socket }))
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const { socket, text } = await dial((tcp.address() as AddressInfo).port)
  onTestFinished(() => {
    socket.destroy()
    tcp.close()
  })
  const send = (message: object, end = '\n') => void socket.write(`${JSON.stringify(message)}${end}`)
  send({ jsonrpc: '2.0', id: 'open', method: 'initialize', params: handshake() })
  send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  for (let id = 0; id < 200; id++) {
    const params = { name: id % 3 ? 'echo' : 'count', arguments: id % 3 ? { text: `é ${id}` } : { times: 2, pause: 1 } }
    send({ jsonrpc: '2.0', id, method: 'tools/call', params: id % 2 ? modern(params) : params }, id % 5 ? '\n' : '\r\n')
    if (id % 50 === 0) socket.write('no message\n')
  }
  interface Line {
    readonly id?: number | string
    readonly result?: { readonly resultType?: string; readonly content?: readonly { readonly text: string }[] }
    readonly error?: object
  }
  const messages = () =>
    text()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line)
  while (messages().length < 205) await new Promise((resolve) => setTimeout(resolve, 5))
  const results = messages().filter(({ id }) => typeof id === 'number')
  expect(new Set(results.map(({ id }) => id)).size).toBe(200)
  for (const { id, result } of results) {
    expect(result?.content?.[0]?.text).toMatch((id as number) % 3 ? new RegExp(` ${id}$`) : /^counted by \d+$/)
    expect(result?.resultType).toBe((id as number) % 2 ? 'complete' : undefined)
  }
  // The server sent no requests: modern servers never do, and no legacy call needed input.
  for (const message of messages()) expect('method' in message && 'id' in message).toBe(false)
  expect(messages().filter((message) => message.error !== undefined && !('id' in message))).toHaveLength(4)
})
