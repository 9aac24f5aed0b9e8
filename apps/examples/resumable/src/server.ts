/** Work that takes longer than connections live. */
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
    // Nothing will be said for long: the connection may go, and the client comes back for the answer.
    ctx.closeStream()
    await pause(300)
    return 'A cheese'
  })
