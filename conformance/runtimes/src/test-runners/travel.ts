/** The server that the tests of each test runner call. */
import { createServer } from '@mcpx/server'
import { z } from 'zod'

export const server = createServer({ name: 'travel', version: '1.0.0' })
  .tool('book', { input: z.object({ to: z.string() }) }, async ({ to }, ctx) => {
    await ctx.progress(1, 2, 'looking for seats')
    const seat = await ctx.elicit('seat', { message: 'Which row?', schema: z.object({ row: z.number().int() }) })
    return seat.action === 'accept' ? `Row ${seat.content.row} to ${to}` : 'Nothing was booked.'
  })
  .tool(
    'add',
    { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number(), unit: z.string() }) },
    ({ a, b }) => ({ sum: a + b, unit: 'm' }),
  )
