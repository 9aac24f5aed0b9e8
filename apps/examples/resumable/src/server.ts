/** A server whose calls last longer than connections. */
import { createServer } from '@mcpx/server'
import { z } from 'zod'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export const server = createServer({ name: 'oven', version: '1.0.0' })
  .tool('bake', { input: z.object({ minutes: z.number().int() }) }, async ({ minutes }, ctx) => {
    for (let minute = 1; minute <= minutes; minute += 1) {
      await ctx.progress(minute, minutes)
      await pause(20)
    }
    return 'A cake'
  })
  .tool('ripen', {}, async (_, ctx) => {
    // Closes the SSE stream; the call keeps running and the client reconnects for the answer.
    ctx.closeStream()
    await pause(300)
    return 'A cheese'
  })
