import { type Message, REVISIONS, type Revision } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { settled } from '@mcpx/testing'
import { describe, expect, it } from 'vitest'
import { judged } from './wire-judge.ts'

/** What the judge says of what a server sends after it was asked for its tools. */
async function saidOf(revision: Revision, ...messages: object[]): Promise<string[]> {
  const problems: string[] = []
  const [here, there] = createChannelPair()
  const client = judged(here, revision, ({ message }) => void problems.push(message))
  client.receive(() => {})
  there.receive(() => {})
  await client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: envelope } } as Message)
  problems.splice(0)
  for (const message of messages) await there.send({ jsonrpc: '2.0', ...message } as Message)
  await settled()
  return problems
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const inputSchema = { type: 'object' }
/** What each revision wants of a list. */
const hints = (revision: Revision) =>
  revision < '2026' ? {} : { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }

describe.each(REVISIONS)('the judge of %s', (revision) => {
  it('lets pass what is right', async () => {
    const result = { tools: [{ name: 'a', inputSchema }], ...hints(revision) }
    const change = { method: 'notifications/tools/list_changed' }
    expect(await saidOf(revision, change, { id: 1, result })).toEqual([])
    expect(await saidOf(revision, { id: 1, error: { code: -32603, message: 'no', data: {} } })).toEqual([])
  })

  it.each([
    ['a result that lacks what it must have', { id: 1, result: {} }],
    ['a member that is not in it', { id: 1, result: { tools: [{ name: 'a', inputSchema, color: 'red' }] } }],
    ['an error without words', { id: 1, error: { code: -32603 } }],
    ['an error with a member that is not in it', { id: 1, error: { code: -32603, message: 'no', color: 'red' } }],
    ['progress of nothing', { method: 'notifications/progress', params: { progressToken: 1 } }],
    ['a notification that is not in it', { method: 'notifications/colors/list_changed' }],
    ['a request that is not in it', { id: 7, method: 'colors/list' }],
  ])('reports %s', async (_what, message) => {
    const result = 'result' in message ? { result: { ...hints(revision), ...message.result } } : {}
    expect(await saidOf(revision, { ...message, ...result })).toEqual([expect.stringMatching(/^S sent /)])
  })

  it('reports a second answer, and one to what was not asked', async () => {
    const right = { tools: [], ...hints(revision) }
    const twice = await saidOf(revision, { id: 1, result: right }, { id: 1, error: { code: -32603, message: 'no' } })
    expect(twice).toEqual(['S answered 1, which does not wait for an answer'])
    expect(await saidOf(revision, { id: 7, error: { code: -32603, message: 'no' } })).toEqual([
      'S answered 7, which does not wait for an answer',
    ])
  })
})
