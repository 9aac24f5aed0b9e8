import { connect } from '@mcpx/client'
import { REVISIONS, type Revision } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { type FakeClock, fakeClock } from '@mcpx/testing/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { textOf } from './results.ts'
import { createTransport, supports, type TransportName, transportNames } from './transports.ts'

const MINUTE = 60_000

let clock: FakeClock
beforeEach(() => {
  clock = fakeClock()
})
afterEach(() => clock.restore())

/** Makes a call whose user answers after the given time, in milliseconds. */
async function callWithSlowUser(era: Revision, transport: TransportName, answersAfter: number): Promise<string> {
  const server = createServer({ name: 'slow', version: '1' })
    .tool('ask', {}, async (_args, ctx) => {
      const form = { message: 'Are you there?', schema: { type: 'object' as const, properties: {} } }
      return (await ctx.elicit('there', form)).action
    })
    .tool('folders', {}, async (_args, ctx) => `${(await ctx.roots()).length}`)
  // Loading modules and creating keys takes real time, so the clock starts when the input request arrives.
  let requested = () => {}
  const asked = new Promise<void>((resolve) => {
    requested = resolve
  })
  const answer = <Answer>(value: Answer) =>
    new Promise<Answer>((resolve) => {
      setTimeout(() => resolve(value), answersAfter)
      requested()
    })
  const { connector, close } = createTransport(transport, server, { revision: era })
  const client = await connect(connector, {
    era,
    // The timeout of the client is long, so that only timeouts of the server could fail the call.
    timeout: 10 * MINUTE,
    onElicit: () => answer({ action: 'decline' as const }),
    roots: () => answer([]),
  })
  // Forms exist since 2025-06-18.
  const call = client.callTool(era < '2025-06-18' ? 'folders' : 'ask')
  await asked
  await clock.advance(answersAfter + 1)
  const text = textOf(await call)
  await client.close()
  close?.()
  return text
}

/** Legacy servers cannot send input requests without sessions. */
const inputRequests = transportNames.filter((transport) => transport !== 'HTTP without sessions')
const combinations = REVISIONS.flatMap((revision) =>
  inputRequests.filter((transport) => supports(transport, revision)).map((transport) => [revision, transport] as const),
)

describe.each(combinations)('in %s over %s', (era, transport) => {
  const answer = era < '2025-06-18' ? '0' : 'decline'

  it('a user may take 50 seconds to answer an input request', async () => {
    expect(await callWithSlowUser(era, transport, 50_000)).toBe(answer)
  })

  it('a user may take five minutes to answer an input request', async () => {
    expect(await callWithSlowUser(era, transport, 5 * MINUTE)).toBe(answer)
  })
})
