import { connect } from '@mcpx/client'
import { REVISIONS, type Revision } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Carrier, carrierNames, carry, exists, isOneByOne } from './carriers.ts'
import { passTime, stopClocks } from './clocks.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

beforeEach(() => stopClocks())
afterEach(() => stopClocks(false))

const outcomeOf = (call: Promise<unknown>) => call.catch((error: unknown) => error)

interface Call {
  readonly minutes: number
  readonly timeout: number
  readonly maxTimeout?: number
}

/** Works for so many minutes, and tells of each; says when it is stopped. */
async function callOfMinutes(era: Revision, carrier: Carrier, { minutes, ...options }: Call) {
  const stopped: unknown[] = []
  const server = createServer({ name: 'long', version: '1' }).tool('work', {}, async (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => stopped.push(ctx.signal.reason))
    for (let done = 1; done <= minutes; done += 1) {
      await new Promise((resolve) => setTimeout(resolve, MINUTE))
      await ctx.progress(done, minutes)
    }
    return 'done'
  })
  const { connector, end } = carry(carrier)(server, { revision: era })
  const client = await connect(connector, { era })
  const call = outcomeOf(client.callTool('work', {}, { ...options, onProgress: () => {} }))
  const silent = outcomeOf(client.callTool('work', {}, options))
  await passTime((minutes + 1) * MINUTE)
  const outcomes = { call: await call, silent: await silent, stopped }
  await client.close()
  end?.()
  return outcomes
}

const inAll = REVISIONS.flatMap((revision) =>
  carrierNames.filter((carrier) => exists(carrier, revision)).map((carrier) => [revision, carrier] as const),
)

/** Without a session nothing tells whose request a cancellation names. */
const isTold = (carrier: Carrier) => carrier !== 'HTTP without sessions'
/** Over HTTP a modern client says by leaving that it wants no more of a call. */
const givenUp = (era: Revision, carrier: Carrier) => ({
  name: 'ConnectionError',
  reason: era >= '2026' && isOneByOne(carrier, era) ? 'closed' : 'cancelled',
})

describe.each(inAll)('in %s over %s', (era, carrier) => {
  it('progress keeps a call alive, and without it the time is up', async () => {
    const { call, silent, stopped } = await callOfMinutes(era, carrier, { minutes: 5, timeout: 90 * SECOND })
    expect(call).toMatchObject({ content: [{ text: 'done' }] })
    expect(silent).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(stopped).toMatchObject(isTold(carrier) ? [givenUp(era, carrier)] : [])
  })

  it('no progress keeps a call alive for longer than its longest time', async () => {
    const times = { timeout: 90 * SECOND, maxTimeout: 3.5 * MINUTE }
    const { call, stopped } = await callOfMinutes(era, carrier, { minutes: 5, ...times })
    expect(call).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(stopped).toMatchObject(isTold(carrier) ? [givenUp(era, carrier), givenUp(era, carrier)] : [])
  })
})
