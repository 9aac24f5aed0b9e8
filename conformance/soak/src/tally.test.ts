import { ConnectionError, RpcError } from '@mcpx/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { LONGEST_OPERATION, Tally, WrongResult } from './tally.ts'

afterEach(() => {
  vi.useRealTimers()
})

const fail = (error: unknown) => () => Promise.reject(error)
const closed = new ConnectionError('closed', 'the connection was cut', { retryable: true })

describe('an operation', () => {
  it('with a result is measured if it is quick', async () => {
    const tally = new Tally()
    expect(await tally.record('call', async () => {}, { mayBreak: false, isQuick: true })).toBe(true)
    expect(await tally.record('task', async () => {}, { mayBreak: false })).toBe(true)
    expect(tally.takeDurations()).toHaveLength(1)
    expect(tally.takeDurations()).toEqual([])
    expect(tally).toMatchObject({ started: 2, ended: 2, running: 0, failed: 0 })
    expect(tally.outcomes.get('call')).toEqual(new Map([['result', 1]]))
  })

  it('with an error that a fault explains is counted by its name, and is no failure', async () => {
    const tally = new Tally()
    expect(await tally.record('call', fail(closed), { mayBreak: true })).toBe(false)
    expect(tally.failed).toBe(0)
    expect(tally.outcomes.get('call')).toEqual(new Map([['closed, retryable', 1]]))
  })

  it.each([
    ['a broken connection without a fault', closed, false, 'closed, retryable: the connection was cut'],
    ['a timeout', new ConnectionError('timeout', 'too slow'), true, 'timeout: too slow'],
    ['the status 500', new ConnectionError('closed', 'status 500', { status: 500 }), true, 'closed 500: status 500'],
    ['an error of the server', new RpcError(-32603, 'internal'), true, 'RpcError -32603: internal'],
    ['a wrong result', new WrongResult('got 2'), true, 'wrong result: got 2'],
    ['an unnamed error', new TypeError('undefined'), true, 'unnamed: TypeError: undefined'],
    ['a value that is no error', 'text', true, 'text'],
  ])('with %s is a failure', async (_, error, mayBreak, problem) => {
    const tally = new Tally()
    expect(await tally.record('call', fail(error), { mayBreak })).toBe(false)
    expect(tally.failures).toEqual([{ at: expect.any(Number), operation: 'call', problem }])
  })

  it('that does not end is lost', async () => {
    vi.useFakeTimers()
    const tally = new Tally()
    const recorded = tally.record('call', () => new Promise(() => {}), { mayBreak: true })
    expect(tally.running).toBe(1)
    await vi.advanceTimersByTimeAsync(LONGEST_OPERATION)
    expect(await recorded).toBe(false)
    expect(tally.failures[0]?.problem).toBe('lost: no result within 120000 ms')
  })
})
