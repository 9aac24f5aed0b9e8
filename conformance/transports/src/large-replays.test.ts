/** Streams that are resumed after many events: all of them are replayed, limited by the speed of the client. */

import { connect } from '@mcpx/client'
import { delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { expect, it, onTestFinished, vi } from 'vitest'
import { serve } from './connections.fixture.ts'
import { createHost } from './host.fixture.ts'
import { phases, startProxy } from './proxy.fixture.ts'
import { dial, openSession, rawCall, rawLegacy } from './sockets.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

it.each([
  ['has ended', 60, 1],
  ['is running', 70, 12],
])(
  'a client that resumes a stream with more events than limits.unsent receives all when the call %s',
  async (_, times, pause) => {
    const { server } = createHost()
    const warnings: Error[] = []
    const onWarning = (problem: Error) => void warnings.push(problem)
    const { url, port } = await serve(server, {
      sessions: { retry: 300 },
      limits: { unsent: 200_000 },
      onWarning,
    })
    const proxy = await startProxy(port)
    const reconnect = { minDelay: 10, maxDelay: 300, attempts: 3 }
    const client = await connect(http(url.replace(String(port), String(proxy.port)), { reconnect }), { era: 'legacy' })
    onTestFinished(() => client.close())
    proxy.arm({ marker: '"count"', phase: phases['between events'], action: 'cut' })
    const received: number[] = []
    const onProgress = ({ progress }: { progress: number }) => void received.push(progress)
    // Events of 50 kB are stored while the client is disconnected.
    const result = await client.callTool('count', { times, size: 50_000, pause }, { onProgress, timeout: 5_000 })
    expect(result).toMatchObject({ content: [{ text: `counted by ${process.pid}` }] })
    expect(received).toEqual(Array.from({ length: times }, (_, n) => n + 1))
    expect(warnings).toEqual([])
  },
)

it('a client that resumes a stream without reading it blocks neither the call nor other clients', async () => {
  const { server, counts } = createHost()
  const { url, port } = await serve(server, { sessions: { retry: 10 }, limits: { unsent: 200_000 } })
  const session = await openSession(url)
  const era = rawLegacy(session)
  const first = await dial(port)
  first.socket.write(rawCall(era, 1, 'count', { times: 150, size: 20_000, pause: 1 }, { progressToken: 't' }))
  const id = /^id: (\S+)/m.exec(await first.until(/"progress":1\b/))?.[1]
  first.socket.destroy()
  const head = `GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nmcp-session-id: ${session}\r\naccept: text/event-stream\r\n`
  const notReading = await dial(port)
  notReading.socket.pause()
  await delay(150)
  notReading.socket.write(`${head}last-event-id: ${id}\r\n\r\n`)
  await delay(400)
  const other = await dial(port)
  other.socket.write(`${head}last-event-id: ${id}\r\n\r\n`)
  const text = await other.until(/counted by/)
  expect(new Set(text.match(/"progress":\d+/g)).size).toBe(150)
  expect(counts.calls).toBe(1)
  for (const { socket } of [notReading, other]) socket.destroy()
})
