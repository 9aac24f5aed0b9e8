import { connect } from '@mcpx/client'
import { type Context, REVISIONS, type Revision } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { type FakeClock, fakeClock } from '@mcpx/testing/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTransport, hasSeparateRequests, supports, type TransportName, transportNames } from './transports.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

let clock: FakeClock
beforeEach(() => {
  clock = fakeClock()
})
afterEach(() => clock.restore())

const outcomeOf = (call: Promise<unknown>) => call.catch((error: unknown) => error)

interface Call {
  readonly minutes: number
  readonly timeout: number
  readonly maxTimeout?: number
}

/**
 * Calls tools that run for the given minutes. `work` reports progress each minute, and is called with and without a
 * callback. `rest` reports no progress. Records the cancellations.
 */
async function callForMinutes(era: Revision, transport: TransportName, { minutes, ...options }: Call) {
  const stopped: unknown[] = []
  const work = async (ctx: Context, reports: boolean) => {
    ctx.signal.addEventListener('abort', () => stopped.push(ctx.signal.reason))
    for (let done = 1; done <= minutes; done += 1) {
      await new Promise((resolve) => setTimeout(resolve, MINUTE))
      if (reports) await ctx.progress(done, minutes)
    }
    return 'done'
  }
  const server = createServer({ name: 'long', version: '1' })
    .tool('work', {}, (_args, ctx) => work(ctx, true))
    .tool('rest', {}, (_args, ctx) => work(ctx, false))
  const { connector, close } = createTransport(transport, server, { revision: era })
  const client = await connect(connector, { era })
  const call = outcomeOf(client.callTool('work', {}, { ...options, onProgress: () => {} }))
  const plain = outcomeOf(client.callTool('work', {}, options))
  const silent = outcomeOf(client.callTool('rest', {}, options))
  await clock.advance((minutes + 1) * MINUTE)
  const outcomes = { call: await call, plain: await plain, silent: await silent, stopped }
  await client.close()
  close?.()
  return outcomes
}

const combinations = REVISIONS.flatMap((revision) =>
  transportNames
    .filter((transport) => supports(transport, revision))
    .map((transport) => [revision, transport] as const),
)

/** Without a session a cancellation cannot be matched to its request. */
const canCancel = (transport: TransportName) => transport !== 'HTTP without sessions'
/** The abort reason of the tool. Over HTTP a modern client cancels by closing the response. */
const cancellationOf = (era: Revision, transport: TransportName) => ({
  name: 'ConnectionError',
  reason: era >= '2026' && hasSeparateRequests(transport, era) ? 'closed' : 'cancelled',
})

describe.each(combinations)('in %s over %s', (era, transport) => {
  it('progress resets the timeout of a call', async () => {
    const { call, plain, silent, stopped } = await callForMinutes(era, transport, { minutes: 5, timeout: 90 * SECOND })
    expect(call).toMatchObject({ content: [{ text: 'done' }] })
    expect(plain).toMatchObject({ content: [{ text: 'done' }] })
    expect(silent).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(stopped).toMatchObject(canCancel(transport) ? [cancellationOf(era, transport)] : [])
  })

  it('progress does not extend a call beyond maxTimeout', async () => {
    const times = { timeout: 90 * SECOND, maxTimeout: 3.5 * MINUTE }
    const { call, plain, stopped } = await callForMinutes(era, transport, { minutes: 5, ...times })
    expect(call).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(plain).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(stopped).toMatchObject(canCancel(transport) ? Array(3).fill(cancellationOf(era, transport)) : [])
  })
})
