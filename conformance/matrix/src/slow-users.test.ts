import { connect } from '@mcpx/client'
import { REVISIONS, type Revision } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Carrier, carrierNames, carry, exists } from './carriers.ts'
import { passTime, stopClocks } from './clocks.ts'
import { textOf } from './results.ts'

const MINUTE = 60_000

beforeEach(() => stopClocks())
afterEach(() => stopClocks(false))

/** What a call gives whose user answers after so long. */
async function callOfSlowUser(era: Revision, carrier: Carrier, answersAfter: number): Promise<string> {
  const server = createServer({ name: 'slow', version: '1' })
    .tool('ask', {}, async (_args, ctx) => {
      const form = { message: 'Are you there?', schema: { type: 'object' as const, properties: {} } }
      return (await ctx.elicit('there', form)).action
    })
    .tool('folders', {}, async (_args, ctx) => `${(await ctx.roots()).length}`)
  // Modules that are loaded when they are first needed, and keys, take time that no clock of the test tells.
  let onAsk = () => {}
  const asked = new Promise<void>((resolve) => {
    onAsk = resolve
  })
  const answer = <Answer>(value: Answer) =>
    new Promise<Answer>((resolve) => {
      setTimeout(() => resolve(value), answersAfter)
      onAsk()
    })
  const { connector, end } = carry(carrier)(server, { revision: era })
  const client = await connect(connector, {
    era,
    // The caller is as patient as the user is slow: what is seen is the patience of the server.
    timeout: 10 * MINUTE,
    onElicit: () => answer({ action: 'decline' as const }),
    roots: () => answer([]),
  })
  // Before 2025-06-18 there are no forms.
  const call = client.callTool(era < '2025-06-18' ? 'folders' : 'ask')
  await asked
  await passTime(answersAfter + 1)
  const text = textOf(await call)
  await client.close()
  end?.()
  return text
}

/** Without sessions clients of the older era cannot be asked. */
const asking = carrierNames.filter((carrier) => carrier !== 'HTTP without sessions')
const inAll = REVISIONS.flatMap((revision) =>
  asking.filter((carrier) => exists(carrier, revision)).map((carrier) => [revision, carrier] as const),
)

describe.each(inAll)('in %s over %s', (era, carrier) => {
  const answer = era < '2025-06-18' ? '0' : 'decline'

  it('a user may take 50 seconds to answer a question', async () => {
    expect(await callOfSlowUser(era, carrier, 50_000)).toBe(answer)
  })

  it('a user may take five minutes to answer a question', async () => {
    expect(await callOfSlowUser(era, carrier, 5 * MINUTE)).toBe(answer)
  })
})
