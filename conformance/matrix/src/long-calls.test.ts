import { connect } from '@mcpx/client'
import { REVISIONS, type Revision } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const SECOND = 1_000
const MINUTE = 60 * SECOND

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const outcomeOf = (call: Promise<unknown>) => call.catch((error: unknown) => error)

/** Works for so many minutes, and tells of each; says when it is stopped. */
async function callOfMinutes(era: Revision, minutes: number, options: { timeout: number; maxTimeout?: number }) {
  const stopped: string[] = []
  const server = createServer({ name: 'long', version: '1' }).tool('work', {}, async (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => stopped.push('stopped'))
    for (let done = 1; done <= minutes; done += 1) {
      await new Promise((resolve) => setTimeout(resolve, MINUTE))
      await ctx.progress(done, minutes)
    }
    return 'done'
  })
  const client = await connect(server, { era })
  const call = outcomeOf(client.callTool('work', {}, { ...options, onProgress: () => {} }))
  const silent = outcomeOf(client.callTool('work', {}, options))
  await vi.advanceTimersByTimeAsync((minutes + 1) * MINUTE)
  const outcomes = { call: await call, silent: await silent, stopped }
  await client.close()
  return outcomes
}

describe.each(REVISIONS)('in %s', (era) => {
  it('progress keeps a call alive, and without it the time is up', async () => {
    const { call, silent, stopped } = await callOfMinutes(era, 5, { timeout: 90 * SECOND })
    expect(call).toMatchObject({ content: [{ text: 'done' }] })
    expect(silent).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(stopped).toEqual(['stopped'])
  })

  it('no progress keeps a call alive for longer than its longest time', async () => {
    const times = { timeout: 90 * SECOND, maxTimeout: 3.5 * MINUTE }
    const { call, stopped } = await callOfMinutes(era, 5, times)
    expect(call).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(stopped).toEqual(['stopped', 'stopped'])
  })
})
