import { connect } from '@mcpx/client'
import { REVISIONS, type Revision } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const MINUTE = 60_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** What a call gives whose user answers after so long. */
async function callOfSlowUser(era: Revision, answersAfter: number) {
  const form = { message: 'Are you there?', schema: { type: 'object', properties: {} } } as const
  const server = createServer({ name: 'slow', version: '1' }).tool('ask', {}, async (_args, ctx) => {
    return (await ctx.elicit('there', { ...form, schema: { ...form.schema } })).action
  })
  // Modules that are loaded when they are first needed, and keys, take time that no clock of the test tells.
  let onAsk = () => {}
  const asked = new Promise<void>((resolve) => {
    onAsk = resolve
  })
  const client = await connect(server, {
    era,
    // The caller is as patient as the user is slow: what is seen is the patience of the server.
    timeout: 10 * MINUTE,
    onElicit: () =>
      new Promise((resolve) => {
        setTimeout(() => resolve({ action: 'decline' }), answersAfter)
        onAsk()
      }),
  })
  const call = client.callTool('ask')
  await asked
  await vi.advanceTimersByTimeAsync(answersAfter + 1)
  const result = await call
  await client.close()
  return result
}

const declined = { content: [{ type: 'text', text: 'decline' }] }

describe.each(REVISIONS.filter((revision) => revision >= '2025-06-18'))('in %s', (era) => {
  it('a user may take 50 seconds to answer a question', async () => {
    expect(await callOfSlowUser(era, 50_000)).toMatchObject(declined)
  })

  it('a user may take five minutes to answer a question', async () => {
    expect(await callOfSlowUser(era, 5 * MINUTE)).toMatchObject(declined)
  })
})
