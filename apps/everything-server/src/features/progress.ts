/** Long-running tools that report progress and stop when the call is cancelled. */
import type { Server } from '@mcpx/server'
import { z } from 'zod'
import { pause } from './pause.ts'

export function addProgress(server: Server): void {
  server
    .tool('test_tool_with_progress', { description: 'Reports progress three times' }, async (_, ctx) => {
      for (const done of [0, 50, 100]) {
        await ctx.progress(done, 100, `Completed step ${done} of 100`)
        await pause(50)
      }
      return 'Done.'
    })
    .tool(
      'count',
      {
        description: 'Counts ten times a second until it is done or cancelled',
        input: z.object({ to: z.number().int().positive() }),
      },
      async ({ to }, ctx) => {
        for (let done = 1; done <= to; done += 1) {
          await pause(100, ctx.signal)
          await ctx.progress(done, to)
        }
        return `Counted to ${to}.`
      },
    )
}
