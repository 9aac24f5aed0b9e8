import { connect } from '@mcpx/client'
import { memoryConnector } from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { catchError } from '../timing.ts'
import '../vitest.ts'
import { answers } from './answers.ts'
import { faults } from './faults.ts'
import { createTravelServer } from './travel.fixture.ts'
import { watchTools } from './watch.ts'

describe.each(['modern', 'legacy'] as const)('watchTools (%s)', (era) => {
  it('records calls with their arguments, results and errors', async () => {
    const travel = watchTools(createTravelServer())
    await using client = await connect(travel, { era })
    await client.callTool('add', { a: 1, b: 2 })
    await catchError(() => client.callTool('unknown', {}))
    expect(travel.calls).toMatchObject([
      { tool: 'add', arguments: { a: 1, b: 2 }, result: { structuredContent: { sum: 3 } }, error: undefined },
      { tool: 'unknown', arguments: {}, result: undefined, error: { name: 'RpcError', code: -32602 } },
    ])
  })

  it('counts a call that asks the user once, and concurrent calls separately', async () => {
    const travel = watchTools(memoryConnector(createTravelServer()))
    const user = answers({ seat: { row: 7 }, terms: {} })
    await using client = await connect(travel, { era, ...user.callbacks })
    const calls = [client.callTool('book', { to: 'Oslo' }), client.callTool('add', { a: 1, b: 2 })]
    expect(travel.calls.map(({ result }) => result)).toEqual(travel.calls.map(() => undefined))
    await Promise.all(calls)
    expect(travel.calls.map(({ tool }) => tool)).toEqual(['book', 'add'])
    expect(travel.calls[0]?.result).toHaveText('Row 7 to Oslo')
  })

  it('records calls that never reached the server', async () => {
    const travel = watchTools(faults(memoryConnector(createTravelServer()), { cut: 1 }))
    await using client = await connect(travel, { era })
    await catchError(() => client.callTool('add', { a: 1, b: 2 }))
    expect(travel.calls).toMatchObject([{ tool: 'add', result: undefined, error: { reason: 'closed' } }])
  })
})

it('toHaveCalled compares the name and a part of the arguments', async () => {
  const travel = watchTools(createTravelServer())
  await using client = await connect(travel)
  await client.callTool('add', { a: 1, b: 2 })
  expect(travel).toHaveCalled('add')
  expect(travel).toHaveCalled('add', { b: 2 })
  expect(travel).not.toHaveCalled('add', { b: 3 })
  expect(travel).not.toHaveCalled('book')
  expect(() => expect(travel).toHaveCalled('add', { b: 3 })).toThrow(
    'expected a call of add with {"b":3}, got add {"a":1,"b":2}',
  )
  expect(() => expect(travel).not.toHaveCalled('add')).toThrow('expected not a call of add, got add {"a":1,"b":2}')
  expect(() => expect({ calls: [] }).toHaveCalled('add')).toThrow('expected a call of add, got no calls')
  expect(() => expect(client).toHaveCalled('add')).toThrow('toHaveCalled: expected an object with "calls", got ')
})
