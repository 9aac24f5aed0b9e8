import { connect } from '@mcpx/client'
import { REVISIONS, type Revision } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { advanceTime, useFakeClock } from './fake-clock.ts'
import { createTransport, hasSeparateRequests, supports, type TransportName, transportNames } from './transports.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

beforeEach(() => useFakeClock())
afterEach(() => useFakeClock(false))

const outcomeOf = (call: Promise<unknown>) => call.catch((error: unknown) => error)

interface Call {
  readonly minutes: number
  readonly timeout: number
  readonly maxTimeout?: number
}

/** Calls a tool that works for the given minutes and reports progress each minute; records its cancellation. */
async function callForMinutes(era: Revision, transport: TransportName, { minutes, ...options }: Call) {
  const stopped: unknown[] = []
  const server = createServer({ name: 'long', version: '1' }).tool('work', {}, async (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => stopped.push(ctx.signal.reason))
    for (let done = 1; done <= minutes; done += 1) {
      await new Promise((resolve) => setTimeout(resolve, MINUTE))
      await ctx.progress(done, minutes)
    }
    return 'done'
  })
  const { connector, close } = createTransport(transport, server, { revision: era })
  const client = await connect(connector, { era })
  const call = outcomeOf(client.callTool('work', {}, { ...options, onProgress: () => {} }))
  const silent = outcomeOf(client.callTool('work', {}, options))
  await advanceTime((minutes + 1) * MINUTE)
  const outcomes = { call: await call, silent: await silent, stopped }
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
    const { call, silent, stopped } = await callForMinutes(era, transport, { minutes: 5, timeout: 90 * SECOND })
    expect(call).toMatchObject({ content: [{ text: 'done' }] })
    expect(silent).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(stopped).toMatchObject(canCancel(transport) ? [cancellationOf(era, transport)] : [])
  })

  it('progress does not extend a call beyond maxTimeout', async () => {
    const times = { timeout: 90 * SECOND, maxTimeout: 3.5 * MINUTE }
    const { call, stopped } = await callForMinutes(era, transport, { minutes: 5, ...times })
    expect(call).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(stopped).toMatchObject(
      canCancel(transport) ? [cancellationOf(era, transport), cancellationOf(era, transport)] : [],
    )
  })
})
