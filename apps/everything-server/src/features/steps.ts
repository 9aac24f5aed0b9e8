/** A side effect that runs once, although the handler runs again for each answer. */
import type { Server } from '@mcpx/server'
import { z } from 'zod'

export function addSteps(server: Server): void {
  let receipts = 0
  server.tool(
    'book',
    { description: 'Books a seat on a train', input: z.object({ to: z.string() }) },
    async ({ to }, ctx) => {
      const seat = await ctx.elicit('seat', { message: 'Which row?', schema: z.object({ row: z.number().int() }) })
      if (seat.action !== 'accept') return 'Nothing was booked.'
      const receipt = await ctx.step('charge', () => ++receipts)
      const sure = await ctx.elicit('sure', {
        message: `Row ${seat.content.row}?`,
        schema: z.object({ ok: z.boolean() }),
        otherwise: { action: 'cancel' },
      })
      if (sure.action !== 'accept' || !sure.content.ok) return `Receipt ${receipt} was cancelled.`
      return `Booked row ${seat.content.row} to ${to}, receipt ${receipt}.`
    },
  )
}
