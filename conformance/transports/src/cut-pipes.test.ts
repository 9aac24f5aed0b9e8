/** Connections with one stream for all messages that break at each phase: pending calls fail, and the next call reconnects. */

import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer, connect as dialTcp } from 'node:net'
import { type Client, connect } from '@mcpx/client'
import type { Revision } from '@mcpx/protocol'
import { catchError } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { overStreams, serveStdio } from '@mcpx/transport-stdio'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { serve } from './connections.fixture.ts'
import { createHost } from './host.fixture.ts'
import { type FaultyProxy, type Phase, startProxy } from './proxy.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

interface ProxiedClient {
  readonly client: Client
  readonly proxy: FaultyProxy
}

async function overLines(era: Revision): Promise<ProxiedClient> {
  const { server } = createHost()
  const tcp = createTcpServer((socket) => void serveStdio(server, { input: socket, output: socket, drainTimeout: 0 }))
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  onTestFinished(() => void tcp.close())
  const proxy = await startProxy((tcp.address() as AddressInfo).port)
  const connector = overStreams(() => {
    const socket = dialTcp(proxy.port, '127.0.0.1')
    return { input: socket, output: socket }
  })
  return { proxy, client: await connectAndClose(connector, era) }
}

async function overTwoEndpoints(): Promise<ProxiedClient> {
  const { url, port } = await serve(createHost().server, { sse: '/sse' })
  const proxy = await startProxy(port)
  const connector = http(url.replace(String(port), String(proxy.port)).replace('/mcp', '/sse'))
  return { proxy, client: await connectAndClose(connector, '2024-11-05') }
}

async function connectAndClose(connector: Parameters<typeof connect>[0], era: Revision): Promise<Client> {
  const client = await connect(connector, { era, timeout: 4_000 })
  onTestFinished(() => client.close())
  return client
}

const after =
  (...texts: string[]): Phase =>
  (answer) => {
    let at = 0
    for (const text of texts) {
      const found = answer.indexOf(text, at)
      if (found < 0) return undefined
      at = found + text.length
    }
    return at
  }

/** The positions at which the connection is cut. */
const phases: Record<string, Phase> = {
  'before the first message': () => 0,
  'between two messages': after('"progress":2', '\n'),
  'inside a message': after('"progress":3'),
  'inside the answer': after('"counted'),
}

const closed = { name: 'ConnectionError', reason: 'closed' }

describe.each([
  ['lines, modern', () => overLines('2026-07-28')],
  ['lines, legacy', () => overLines('2025-11-25')],
])('over %s, a connection that is cut', (_, connectOver) => {
  it.each(Object.entries(phases))('%s fails pending calls, and the next call reconnects', async (_, phase) => {
    const { client, proxy } = await connectOver()
    const waiting = catchError(() => client.callTool('never'))
    proxy.arm({ marker: '"count"', phase, action: 'cut' })
    const call = catchError(() => client.callTool('count', { times: 4, pause: 5 }, { onProgress: () => {} }))
    for (const error of await Promise.all([call, waiting])) expect(error).toMatchObject(closed)
    expect(proxy.hasStruck()).toBe(true)
    expect(await client.callTool('echo', { text: 'well' })).toMatchObject({ content: [{ text: 'well' }] })
  })

  it('before the line break of the response still returns the complete response', async () => {
    const { client, proxy } = await connectOver()
    proxy.arm({ marker: '"count"', phase: (answer) => lineAt(answer, '"counted'), action: 'cut' })
    const outcome = await client.callTool('count', { times: 2 }).catch((error: unknown) => error)
    expect(outcome).toMatchObject({ content: [{ text: `counted by ${process.pid}` }] })
  })

  it('silently fails each call with its timeout', async () => {
    const { client, proxy } = await connectOver()
    proxy.arm({ marker: '"count"', phase: after('"progress":2'), action: 'hold' })
    const call = client.callTool('count', { times: 4, pause: 5 }, { onProgress: () => {}, timeout: 200 })
    expect(await catchError(() => call)).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(await catchError(() => client.callTool('echo', {}, { timeout: 200 }))).toMatchObject({ reason: 'timeout' })
  })
})

/** Returns the end of the line that contains a text, without its line break. */
function lineAt(answer: string, text: string): number | undefined {
  const start = answer.indexOf(text)
  const end = answer.indexOf('\n', start)
  return start < 0 || end < 0 ? undefined : end
}

describe('over HTTP+SSE, a stream that is cut', () => {
  it.each(['between two messages', 'inside a message', 'inside the answer'])(
    '%s fails pending calls, and the next call reconnects',
    async (phase) => {
      const { client, proxy } = await overTwoEndpoints()
      // The stream is already open, so the fault applies to its next data.
      proxy.armOpen('GET /sse', { phase: phases[phase] as Phase, action: 'cut' })
      const waiting = catchError(() => client.callTool('never'))
      const call = catchError(() => client.callTool('count', { times: 4, pause: 5 }, { onProgress: () => {} }))
      for (const error of await Promise.all([call, waiting])) expect(error).toMatchObject(closed)
      expect(proxy.hasStruck()).toBe(true)
      expect(await client.callTool('echo', { text: 'well' })).toMatchObject({ content: [{ text: 'well' }] })
    },
  )
})
