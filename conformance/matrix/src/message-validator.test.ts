import { type Message, REVISIONS, type Revision } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { waitForTasks } from '@mcpx/testing'
import { describe, expect, it } from 'vitest'
import { validateChannel } from './message-validator.ts'

/** Returns the warnings about the messages that a server sends after a tools/list request. */
async function warningsFor(revision: Revision, ...messages: object[]): Promise<string[]> {
  const problems: string[] = []
  const [clientEnd, serverEnd] = createChannelPair()
  const client = validateChannel(clientEnd, revision, ({ message }) => void problems.push(message))
  client.receive(() => {})
  serverEnd.receive(() => {})
  await client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: envelope } } as Message)
  problems.splice(0)
  for (const message of messages) await serverEnd.send({ jsonrpc: '2.0', ...message } as Message)
  await waitForTasks()
  return problems
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const inputSchema = { type: 'object' }
/** The members that each revision requires in a list result. */
const hints = (revision: Revision) =>
  revision < '2026' ? {} : { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }

describe.each(REVISIONS)('the message validator of %s', (revision) => {
  it('accepts valid messages', async () => {
    const result = { tools: [{ name: 'a', inputSchema }], ...hints(revision) }
    const change = { method: 'notifications/tools/list_changed' }
    expect(await warningsFor(revision, change, { id: 1, result })).toEqual([])
    expect(await warningsFor(revision, { id: 1, error: { code: -32603, message: 'no', data: {} } })).toEqual([])
  })

  it.each([
    ['a result without a required member', { id: 1, result: {} }],
    ['an unknown member', { id: 1, result: { tools: [{ name: 'a', inputSchema, color: 'red' }] } }],
    ['an error without a message', { id: 1, error: { code: -32603 } }],
    ['an error with an unknown member', { id: 1, error: { code: -32603, message: 'no', color: 'red' } }],
    ['progress without a value', { method: 'notifications/progress', params: { progressToken: 1 } }],
    ['an unknown notification', { method: 'notifications/colors/list_changed' }],
    ['an unknown request', { id: 7, method: 'colors/list' }],
  ])('reports %s', async (_what, message) => {
    const result = 'result' in message ? { result: { ...hints(revision), ...message.result } } : {}
    expect(await warningsFor(revision, { ...message, ...result })).toEqual([
      expect.stringMatching(/^server: expected /),
    ])
  })

  it('reports a second response, and a response without a request', async () => {
    const valid = { tools: [], ...hints(revision) }
    const twice = await warningsFor(
      revision,
      { id: 1, result: valid },
      { id: 1, error: { code: -32603, message: 'no' } },
    )
    expect(twice).toEqual(['server: expected a pending request for the response, got id 1'])
    expect(await warningsFor(revision, { id: 7, error: { code: -32603, message: 'no' } })).toEqual([
      'server: expected a pending request for the response, got id 7',
    ])
  })
})
