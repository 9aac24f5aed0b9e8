/** Peers that stop reading, on either side: what waits for them is bounded, and ends by name. */

import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { connect } from '@mcpx/client'
import { caught, delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { overStreams } from '@mcpx/transport-stdio'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { MODERN, modern, serve, silent } from './carriers.fixture.ts'
import { createHost } from './host.fixture.ts'
import { endHosts, type Host, startHost } from './hosts.fixture.ts'
import { dial, openSession, rawCall, spokenLegacy, spokenModern } from './sockets.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })
afterAll(endHosts)

const MiB = 2 ** 20

/** A client that asks for far more than it ever reads; how much memory the server holds for it, in MiB. */
async function heldFor(host: Host, request: string, sockets: number): Promise<number> {
  const before = (await host.look()).resident
  const dialled = await Promise.all(Array.from({ length: sockets }, () => dial(host.port)))
  for (const { socket } of dialled) {
    socket.pause()
    socket.write(request)
  }
  await delay(700)
  const held = (await host.look()).resident - before
  for (const { socket } of dialled) socket.destroy()
  return held / MiB
}

describe('a client that does not read', () => {
  const flood = { times: 20_000, size: 20_000 }

  it('holds up the handler that tells it of its progress, and costs no more memory than a few messages', async () => {
    const host = await startHost()
    const token = { progressToken: 't' }
    for (const spoken of [spokenModern, spokenLegacy(await openSession(host.url))]) {
      const held = await heldFor(host, rawCall(spoken, 1, 'count', flood, token), 5)
      console.log(`${spoken.name}: ${held.toFixed(1)} MiB for five clients that do not read`)
      expect(held).toBeLessThan(60)
    }
    expect(host.stderr).toBe('')
    const { socket, until } = await dial(host.port)
    socket.write(rawCall(spokenModern, 1, 'echo', { text: 'well' }))
    await until(/well/)
    socket.destroy()
  })

  it('is noticed when it goes: the modern call is ended, the other one goes on to its end', async () => {
    const host = await startHost()
    const session = spokenLegacy(await openSession(host.url))
    for (const spoken of [spokenModern, session]) {
      const { calls, aborted } = await host.look()
      const { socket } = await dial(host.port)
      socket.pause()
      socket.write(rawCall(spoken, 1, 'count', { times: 2_000, size: 20_000 }, { progressToken: 't' }))
      while ((await host.look()).calls === calls) await delay(10)
      await delay(100)
      socket.destroy()
      await delay(200)
      expect((await host.look()).aborted).toBe(spoken === session ? aborted : aborted + 1)
    }
  })

  it('has its stream cut at the limit when the handler does not wait for it, and the report names the limit', async () => {
    const reports: Error[] = []
    const { server } = createHost()
    server.tool('shout', {}, async (_args, ctx) => {
      for (let n = 0; n < 2_000; n++) void ctx.progress(n, undefined, 'x'.repeat(10_000))
      await delay(500)
      return ctx.signal.aborted ? 'unheard' : 'heard'
    })
    const { port } = await serve(server, {
      limits: { unsent: 500_000 },
      onWarning: (problem) => void reports.push(problem),
    })
    const { socket, closed } = await dial(port)
    socket.pause()
    socket.write(rawCall(spokenModern, 1, 'shout', {}, { progressToken: 't' }))
    await delay(200)
    socket.resume()
    const text = await closed
    expect(text.length).toBeLessThan(8 * MiB)
    expect(text).not.toContain('heard')
    expect(reports.map(({ message }) => message)).toEqual([
      'The client left 500000 bytes unread: its stream was cut (limits.unsent)',
    ])
  })

  it('asks for many large answers at once and is given no more than it reads', async () => {
    const host = await startHost()
    const requests = Array.from({ length: 400 }, (_, n) => rawCall(spokenModern, n, 'big', { size: 500_000 })).join('')
    const held = await heldFor(host, requests, 1)
    console.log(`${held.toFixed(1)} MiB for 400 answers of 500 kB that nobody reads`)
    expect(held).toBeLessThan(250)
  })
})

/** A server that takes connections and reads nothing. */
async function deaf(): Promise<number> {
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
  it('over HTTP: each call ends when its time is up', async () => {
    const connection = await http(`http://127.0.0.1:${await deaf()}/mcp`).connect(silent)
    const params = modern({ name: 'echo', arguments: { text: 'x'.repeat(5_000_000) } })
    const calls = Array.from({ length: 5 }, () =>
      caught(() => connection.request('tools/call', params, { timeout: 200 })),
    )
    for (const error of await Promise.all(calls)) {
      expect(error).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    }
    await connection.close()
  })

  it('over a pipe: what does not leave is refused at the limit, by its number and option, and the rest in time', async () => {
    const port = await deaf()
    const { connect: toTcp } = await import('node:net')
    const open = () => {
      const socket = toTcp(port, '127.0.0.1')
      return { input: socket, output: socket }
    }
    const connection = await overStreams(open, { maxUnsent: 1_000_000, flushTimeout: 50 }).connect(silent)
    const call = () => caught(() => connection.request('m', { text: 'x'.repeat(500_000) }, { timeout: 300 }))
    const errors = await Promise.all(Array.from({ length: 40 }, call))
    const reasons = errors.map((error) => (error as { reason: string }).reason)
    expect(new Set(reasons)).toEqual(new Set(['timeout', 'limit']))
    expect(errors.find((error) => (error as { reason: string }).reason === 'limit')).toMatchObject({
      message: 'Not sent: more than 1000000 characters wait to leave (maxUnsent)',
    })
    await connection.close()
  })

  it('when a client connects: the probe is given up, and said so', async () => {
    const connector = http(`http://127.0.0.1:${await deaf()}/mcp`, { probeTimeout: 100 })
    const error = await caught(() => connect(connector, { timeout: 150, era: MODERN }))
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
  })
})
