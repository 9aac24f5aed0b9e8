import { describe, expect, it } from 'vitest'
import { http } from '../client.ts'
import { mcp } from '../index.ts'
import { HandWritten, LEGACY, modern, openSession, post, postModern, request } from './server.fixture.ts'

const server = () =>
  new HandWritten({
    'tools/call': async (_, exchange) => {
      await exchange.notify('notifications/progress', { progressToken: 1, progress: 1 })
      return { content: [], structuredContent: { password: 'hunter22' } }
    },
  })

describe('the debug option', () => {
  it('shows the messages of an endpoint, in both eras', async () => {
    const lines: string[] = []
    const app = mcp(server(), { debug: (line) => void lines.push(line) })
    await (await postModern(app, modern('tools/call', { name: 'x' }))).text()
    expect(lines).toEqual([
      expect.stringMatching(/^mcpx server <- .*"method":"tools\/call"/),
      expect.stringMatching(/^mcpx server -> .*"method":"notifications\/progress"/),
      expect.stringMatching(/^mcpx server -> .*"result".*"\[redacted\]"/),
    ])
    lines.length = 0
    const session = await openSession(app)
    lines.length = 0
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': LEGACY }
    await (await post(app, request('tools/call', { name: 'x' }), headers)).text()
    expect(lines.map((line) => line.slice(0, 14))).toEqual(['mcpx server <-', 'mcpx server ->', 'mcpx server ->'])
    lines.length = 0
    await post(app, 'nonsense')
    expect(lines[0]).toMatch(/^mcpx server <- invalid message: /)
  })

  it('shows the error that replaces a result that JSON cannot represent', async () => {
    const lines: string[] = []
    const app = mcp(new HandWritten({ 'tools/call': () => ({ content: [], structuredContent: 1n }) }), {
      debug: (line) => void lines.push(line),
    })
    await (await postModern(app, modern('tools/call', { name: 'x' }))).text()
    expect(lines).toEqual([
      expect.stringMatching(/^mcpx server <- .*"method":"tools\/call"/),
      expect.stringMatching(/^mcpx server -> .*"error"/),
    ])
  })

  it.each(['auto', 'json'] as const)('shows the messages of a client, with %s responses', async (responses) => {
    const seen: string[] = []
    const app = mcp(server(), { responses })
    const fetch = async (input: string | URL | Request, init?: RequestInit) => app.request(String(input), init)
    const connection = await http('http://localhost/mcp', { fetch }).connect({
      responder: { respond: () => undefined },
      onWarning: () => {},
      onMessage: (direction, message) => void seen.push(`${direction} ${JSON.stringify(message)}`),
    })
    await connection.request('tools/call', modern('tools/call', { name: 'x' }).params)
    await connection.close()
    const progress = responses === 'auto' ? [expect.stringMatching(/^in .*progress/)] : []
    expect(seen).toEqual([
      expect.stringMatching(/^out .*tools\/call/),
      ...progress,
      expect.stringMatching(/^in .*result/),
    ])
  })
})
