/** The MCP server that the page uses. */
import { createServer } from '@mcpx/server'
import { z } from 'zod'

export const server = createServer({ name: 'trains', version: '1.0.0' })
  .tool(
    'departures',
    { input: z.object({ from: z.string() }), output: z.object({ to: z.array(z.string()) }) },
    ({ from }) => ({ to: from === 'Oslo' ? ['Bergen', 'Trondheim'] : [] }),
  )
  .tool('book', { input: z.object({ to: z.string() }) }, async ({ to }, ctx) => {
    const seat = await ctx.elicit('seat', {
      message: `To ${to}: which row?`,
      schema: z.object({ row: z.number().int() }),
    })
    return seat.action === 'accept' ? `Row ${seat.content.row} to ${to}.` : 'Nothing was booked.'
  })

export type Trains = typeof server
