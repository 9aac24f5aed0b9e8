/** The server. It is independent of the runtime and of the transport. */
import { createServer } from '@mcpx/server'
import { z } from 'zod'

export const server = createServer({ name: 'clock', version: '1.0.0' })
  .tool('now', { output: z.object({ iso: z.string() }) }, () => ({ iso: new Date().toISOString() }))
  .tool('countdown', { input: z.object({ from: z.number().int().max(10) }) }, async ({ from }, ctx) => {
    for (let left = from; left > 0; left -= 1) {
      await ctx.progress(from - left + 1, from, `${left}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return 'Lift off'
  })

export type Clock = typeof server
