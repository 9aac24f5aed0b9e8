/**
 * Checks that floods of requests by a client without credentials do not crash a server with default limits and a heap
 * of 256 MB, and that it still answers another client within a second.
 */

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { modern } from './connections.fixture.ts'
import { type Host, killHosts, startHost } from './hosts.fixture.ts'
import { dial, initialize, raw, rawModern } from './sockets.fixture.ts'
import { floods, send } from './strangers.fixture.ts'

vi.setConfig({ testTimeout: 120_000 })

/** The largest resident memory of the process: its heap, and the memory of its sockets and of the allocator. */
const MOST_RESIDENT = 1024 * 1024 * 1024

let host: Host
let session: string

beforeAll(startAnew)
afterAll(killHosts)

async function startAnew(): Promise<void> {
  host = await startHost({ serve: { sse: '/sse' }, knowsCallers: true, heap: 256 })
  const text = await post(initialize())
  session = /mcp-session-id: (\S+)/i.exec(text)?.[1] as string
}

/** Posts a message of an authenticated caller on a new connection. Returns the response as a string. */
async function post(message: object, headers: Record<string, string> = {}): Promise<string> {
  const { socket, closed } = await dial(host.port)
  socket.write(raw(JSON.stringify(message), { 'x-caller': 'known', connection: 'close', ...headers }))
  return closed
}

const echo = { name: 'echo', arguments: { text: 'still here' } }
const eras: Readonly<Record<string, () => Promise<string>>> = {
  modern: () =>
    post(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: modern(echo) },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' },
    ),
  legacy: () => post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: echo }, { 'mcp-session-id': session }),
}

/** Repeats a call until the answer takes less than a second, because the machine may still be busy with the flood. */
async function expectAnswers(call: () => Promise<string>): Promise<void> {
  for (;;) {
    const start = performance.now()
    const answer = await call()
    const { exitCode, signalCode } = host.child
    const state = `server process: exit code ${exitCode}, signal ${signalCode}, ${host.stderr.slice(-500)}`
    expect(answer, state).toContain('still here')
    if (performance.now() - start < 1_000) return
  }
}

describe('a server with a heap of 256 MB survives', () => {
  it.each(floods)('$name', async (flood) => {
    if (host.child.exitCode !== null || host.child.signalCode !== null) await startAnew()
    const sent = await send(flood, host.url)
    try {
      for (const call of Object.values(eras)) await expectAnswers(call)
    } finally {
      sent.close()
    }
    expect((await host.look()).resident).toBeLessThan(MOST_RESIDENT)
  })
})

it('a server responds to requests that arrive together, although their results do not fit into its heap together', async () => {
  const limits = { unreadBytes: 1024 * 1024 * 1024, perCaller: 1 }
  const small = await startHost({ heap: 128, serve: { limits } })
  const [count, size] = [60, 2_500_000]
  const sockets = await Promise.all(Array.from({ length: count }, () => dial(small.port)))
  // The process reads all requests at once when it continues, as on a busy machine.
  small.child.kill('SIGSTOP')
  for (const [id, { socket }] of sockets.entries()) {
    socket.write(raw(rawModern.body(id, 'big', { size }), { ...rawModern.headers('big'), connection: 'close' }))
  }
  small.child.kill('SIGCONT')
  const texts = await Promise.all(sockets.map(({ closed }) => closed))
  expect(small.stderr).not.toContain('heap')
  expect(texts.filter((text) => text.startsWith('HTTP/1.1 200') && text.length > size)).toHaveLength(count)
})
