/** Streams that are resumed after much was missed: all of it comes, as fast as the client reads, and not faster. */

import { connect } from '@mcpx/client'
import { delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { expect, it, onTestFinished, vi } from 'vitest'
import { serve } from './carriers.fixture.ts'
import { createHost } from './host.fixture.ts'
import { phases, startProxy } from './proxy.fixture.ts'
import { dial, openSession, rawCall, spokenLegacy } from './sockets.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

it.each([
  ['has ended', 60, 1],
  ['goes on', 70, 12],
])('a client that comes back for more than may wait unread has all of it when the call %s', async (_, times, pause) => {
  const { server } = createHost()
  const reports: Error[] = []
  const report = (problem: Error) => void reports.push(problem)
  const { url, port } = await serve(server, {
    sessions: { retry: 300 },
    limits: { unsent: 200_000 },
    onWarning: report,
  })
  const proxy = await startProxy(port)
  const reconnect = { minDelay: 10, maxDelay: 300, attempts: 3 }
  const client = await connect(http(url.replace(String(port), String(proxy.port)), { reconnect }), { era: 'legacy' })
  onTestFinished(() => client.close())
  proxy.arm({ marker: '"count"', phase: phases['between events'], action: 'cut' })
  const heard: number[] = []
  const onProgress = ({ progress }: { progress: number }) => void heard.push(progress)
  // While the client is away, events of 50 kB are kept for it.
  const result = await client.callTool('count', { times, size: 50_000, pause }, { onProgress, timeout: 5_000 })
  expect(result).toMatchObject({ content: [{ text: `counted by ${process.pid}` }] })
  expect(heard).toEqual(Array.from({ length: times }, (_, n) => n + 1))
  expect(reports).toEqual([])
})

it('a client that comes back and does not read holds up nothing and nobody', async () => {
  const { server, counts } = createHost()
  const { url, port } = await serve(server, { sessions: { retry: 10 }, limits: { unsent: 200_000 } })
  const session = await openSession(url)
  const spoken = spokenLegacy(session)
  const first = await dial(port)
  first.socket.write(rawCall(spoken, 1, 'count', { times: 150, size: 20_000, pause: 1 }, { progressToken: 't' }))
  const id = /^id: (\S+)/m.exec(await first.until(/"progress":1\b/))?.[1]
  first.socket.destroy()
  const head = `GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nmcp-session-id: ${session}\r\naccept: text/event-stream\r\n`
  const stuck = await dial(port)
  stuck.socket.pause()
  await delay(150)
  stuck.socket.write(`${head}last-event-id: ${id}\r\n\r\n`)
  await delay(400)
  const other = await dial(port)
  other.socket.write(`${head}last-event-id: ${id}\r\n\r\n`)
  const text = await other.until(/counted by/)
  expect(new Set(text.match(/"progress":\d+/g)).size).toBe(150)
  expect(counts.calls).toBe(1)
  for (const { socket } of [stuck, other]) socket.destroy()
})
