/** Ids, names, URIs and cursors have bounded lengths: what one side keeps of them is bounded by their number. */
import { describe, expect, it } from 'vitest'
import { decode } from './codec.ts'
import { readEnvelope, subscriptionIdOf } from './envelope.ts'
import { CancelledNotificationParams, ListToolsResult, ProgressNotificationParams } from './index.ts'
import { Refusal } from './messages.ts'
import { clientRequestParams } from './method-schemas.ts'
import { problemOf } from './validate.ts'

const long = (length: number) => 'x'.repeat(length)

describe('an id', () => {
  it('of 1,024 characters is accepted', () => {
    expect(decode(JSON.stringify({ jsonrpc: '2.0', id: long(1024), method: 'm' }))).toMatchObject({ method: 'm' })
    expect(decode(JSON.stringify({ jsonrpc: '2.0', id: long(1024), result: {} }))).toMatchObject({ result: {} })
  })

  it.each([
    ['request', { method: 'm' }],
    ['response', { result: {} }],
    ['response', { error: { code: 1, message: 'm' } }],
  ])('of more is refused by name and not repeated: %s', (kind, members) => {
    const refusal = decode(JSON.stringify({ jsonrpc: '2.0', id: long(1025), ...members })) as Refusal
    expect(refusal).toBeInstanceOf(Refusal)
    const message = 'Invalid message: id: expected at most 1024 characters, got 1025'
    expect(refusal).toMatchObject({ kind, id: undefined, error: { code: -32600, message } })
    expect(JSON.stringify(refusal.answer ?? {}).length).toBeLessThan(200)
  })

  it('in parameters is bounded, too', () => {
    expect(problemOf(CancelledNotificationParams, { requestId: long(1025) }, 'params')).toBe(
      'params.requestId: expected at most 1024 characters, got 1025',
    )
    expect(problemOf(ProgressNotificationParams, { progressToken: long(1025), progress: 1 }, 'params')).toBe(
      'params.progressToken: expected at most 1024 characters, got 1025',
    )
    expect(problemOf(CancelledNotificationParams, { requestId: true }, 'params')).toBe(
      'params.requestId: expected string or integer, got boolean',
    )
    expect(subscriptionIdOf({ _meta: { 'io.modelcontextprotocol/subscriptionId': long(1025) } })).toBeUndefined()
  })
})

describe('parameters of requests', () => {
  it.each([
    ['tools/call', { name: long(1024) }, { name: long(1025) }, 'name: expected at most 1024 characters, got 1025'],
    ['prompts/get', { name: long(1024) }, { name: long(1025) }, 'name: expected at most 1024 characters, got 1025'],
    ['resources/read', { uri: long(8192) }, { uri: long(8193) }, 'uri: expected at most 8192 characters, got 8193'],
    [
      'resources/subscribe',
      { uri: long(8192) },
      { uri: long(8193) },
      'uri: expected at most 8192 characters, got 8193',
    ],
    [
      'tools/list',
      { cursor: long(16_000) },
      { cursor: long(16_001) },
      'cursor: expected at most 16000 characters, got 16001',
    ],
    [
      'ping',
      { _meta: { progressToken: long(1024) } },
      { _meta: { progressToken: long(1025) } },
      '_meta.progressToken: expected at most 1024 characters, got 1025',
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: long(1024), value: '' } },
      { ref: { type: 'ref/prompt', name: long(1025) }, argument: { name: 'a', value: '' } },
      'ref.name: expected at most 1024 characters, got 1025',
    ],
    [
      'initialize',
      { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: long(1024), version: '1' } },
      { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'n', version: long(1025) } },
      'clientInfo.version: expected at most 1024 characters, got 1025',
    ],
  ])('of %s have bounded strings', (method, valid, invalid, problem) => {
    const schema = clientRequestParams('2025-06-18', method)
    if (schema === undefined) throw new Error(`no ${method}`)
    expect(problemOf(schema, valid, 'params')).toBeUndefined()
    expect(problemOf(schema, invalid, 'params')).toBe(`params.${problem}`)
  })

  it('of subscriptions/listen have bounded URIs', () => {
    const schema = clientRequestParams('2026-07-28', 'subscriptions/listen')
    if (schema === undefined) throw new Error('no such method')
    const problem = problemOf(schema, { notifications: { resourceSubscriptions: [long(8193)] } }, 'params')
    expect(problem).toBe('params.notifications.resourceSubscriptions[0]: expected at most 8192 characters, got 8193')
  })
})

it('the envelope has bounded names', () => {
  const envelope = (clientInfo: object) => ({
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': clientInfo,
    },
  })
  expect(readEnvelope(envelope({ name: 'n', version: '1', description: long(2000) }))).toHaveProperty('clientInfo')
  expect(readEnvelope(envelope({ name: long(1025), version: '1' }))).toMatch(
    /expected at most 1024 characters, got 1025$/,
  )
})

it('lists have bounded names and cursors', () => {
  const tools = [{ name: long(1025), inputSchema: { type: 'object' } }]
  expect(problemOf(ListToolsResult, { tools }, 'result')).toBe(
    'result.tools[0].name: expected at most 1024 characters, got 1025',
  )
  expect(problemOf(ListToolsResult, { tools: [], nextCursor: long(16_001) }, 'result')).toBe(
    'result.nextCursor: expected at most 16000 characters, got 16001',
  )
})
