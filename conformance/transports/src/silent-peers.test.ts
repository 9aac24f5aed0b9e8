/** Peers that stop reading: memory is bounded, and calls end with specific errors. */

import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { connect } from '@mcpx/client'
import { catchError, delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { overStreams, spawn } from '@mcpx/transport-stdio'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { MODERN, modern, serve, silent } from './connections.fixture.ts'
import { createHost } from './host.fixture.ts'
import { type Host, killHosts, startHost } from './hosts.fixture.ts'
import { dial, openSession, rawCall, rawLegacy, rawModern } from './sockets.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })
afterAll(killHosts)

const MiB = 2 ** 20

/** Opens connections that send a request and do not read; returns the memory growth of the server in MiB. */
async function measureGrowth(host: Host, request: string, sockets: number): Promise<number> {
  const before = (await host.look()).resident
  const dialled = await Promise.all(Array.from({ length: sockets }, () => dial(host.port)))
  for (const { socket } of dialled) {
    socket.pause()
    socket.write(request)
  }
  await delay(700)
  const growth = (await host.look()).resident - before
  for (const { socket } of dialled) socket.destroy()
  return growth / MiB
}

describe('a client that does not read', () => {
  const flood = { times: 20_000, size: 20_000 }

  it('blocks the handler that sends progress, and costs little memory', async () => {
    const host = await startHost()
    const token = { progressToken: 't' }
    for (const rawEra of [rawModern, rawLegacy(await openSession(host.url))]) {
      const growth = await measureGrowth(host, rawCall(rawEra, 1, 'count', flood, token), 5)
      console.log(`${rawEra.name}: ${growth.toFixed(1)} MiB for five clients that do not read`)
      expect(growth).toBeLessThan(60)
    }
    expect(host.stderr).toBe('')
    const { socket, until } = await dial(host.port)
    socket.write(rawCall(rawModern, 1, 'echo', { text: 'well' }))
    await until(/well/)
    socket.destroy()
  })

  it('is noticed when it disconnects: the modern call is aborted, the legacy call continues', async () => {
    const host = await startHost()
    const session = rawLegacy(await openSession(host.url))
    for (const rawEra of [rawModern, session]) {
      const { calls, aborted } = await host.look()
      const { socket } = await dial(host.port)
      socket.pause()
      socket.write(rawCall(rawEra, 1, 'count', { times: 2_000, size: 20_000 }, { progressToken: 't' }))
      while ((await host.look()).calls === calls) await delay(10)
      await delay(100)
      socket.destroy()
      await delay(200)
      expect((await host.look()).aborted).toBe(rawEra === session ? aborted : aborted + 1)
    }
  })

  it('has its stream cut at the limit if the handler does not await progress, with a warning that names the limit', async () => {
    const warnings: Error[] = []
    const { server } = createHost()
    server.tool('shout', {}, async (_args, ctx) => {
      for (let n = 0; n < 2_000; n++) void ctx.progress(n, undefined, 'x'.repeat(10_000))
      await delay(500)
      return ctx.signal.aborted ? 'unheard' : 'heard'
    })
    const { port } = await serve(server, {
      limits: { unsent: 500_000 },
      onWarning: (problem) => void warnings.push(problem),
    })
    const { socket, closed } = await dial(port)
    socket.pause()
    socket.write(rawCall(rawModern, 1, 'shout', {}, { progressToken: 't' }))
    await delay(200)
    socket.resume()
    const text = await closed
    expect(text.length).toBeLessThan(8 * MiB)
    expect(text).not.toContain('heard')
    expect(warnings.map(({ message }) => message)).toEqual([
      'The client left 500000 bytes unread: its stream was cut (limits.unsent)',
    ])
  })

  it('costs limited memory when it requests many large responses', async () => {
    const host = await startHost()
    const requests = Array.from({ length: 400 }, (_, n) => rawCall(rawModern, n, 'big', { size: 500_000 })).join('')
    const growth = await measureGrowth(host, requests, 1)
    console.log(`${growth.toFixed(1)} MiB for 400 unread responses of 500 kB`)
    expect(growth).toBeLessThan(250)
  })
})

/** A server that accepts connections and reads nothing. */
async function serveWithoutReading(): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket.pause())
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

describe('a server that does not read', () => {
  it('fails each call over HTTP with its timeout', async () => {
    const connection = await http(`http://127.0.0.1:${await serveWithoutReading()}/mcp`).connect(silent)
    const params = modern({ name: 'echo', arguments: { text: 'x'.repeat(5_000_000) } })
    const calls = Array.from({ length: 5 }, () =>
      catchError(() => connection.request('tools/call', params, { timeout: 200 })),
    )
    for (const error of await Promise.all(calls)) {
      expect(error).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    }
    await connection.close()
  })

  it('fails calls over stdio at the limit, with the number and the option, and the others with their timeout', async () => {
    const port = await serveWithoutReading()
    const { connect: toTcp } = await import('node:net')
    const open = () => {
      const socket = toTcp(port, '127.0.0.1')
      return { input: socket, output: socket }
    }
    const connection = await overStreams(open, { maxUnsent: 1_000_000, flushTimeout: 50 }).connect(silent)
    const call = () => catchError(() => connection.request('m', { text: 'x'.repeat(500_000) }, { timeout: 300 }))
    const errors = await Promise.all(Array.from({ length: 40 }, call))
    const reasons = errors.map((error) => (error as { reason: string }).reason)
    expect(new Set(reasons)).toEqual(new Set(['timeout', 'limit']))
    expect(errors.find((error) => (error as { reason: string }).reason === 'limit')).toMatchObject({
      message: 'Not sent: more than 1000000 characters wait to leave (maxUnsent)',
    })
    await connection.close()
  })

  it('fails connecting with the timeout of the probe', async () => {
    const connector = http(`http://127.0.0.1:${await serveWithoutReading()}/mcp`, { probeTimeout: 100 })
    const error = await catchError(() => connect(connector, { timeout: 150, era: MODERN }))
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
  })
})

describe('a program that never answers', () => {
  const run = (code: string) => spawn(process.execPath, ['-e', `${code}; setInterval(() => {}, 1_000)`])

  it('is given up after one time for all requests, and the error says what to do', async () => {
    const error = await catchError(() => connect(run(''), { connectTimeout: 900 }))
    expect(error).toMatchObject({
      name: 'ConnectionError',
      reason: 'timeout',
      message: 'No response to server/discover within 450 ms, nor to initialize within 450 ms',
      hint: expect.stringContaining('or pass a longer connectTimeout'),
    })
  })

  it('is quoted where it writes something else', async () => {
    const error = await catchError(() =>
      connect(run('console.log("http://127.0.0.1:3000/mcp")'), { connectTimeout: 4_000 }),
    )
    expect(error).toMatchObject({
      reason: 'timeout',
      message: expect.stringMatching(/^No response to server\/discover within .*http:\/\/127\.0\.0\.1:3000\/mcp/),
    })
  })
})
