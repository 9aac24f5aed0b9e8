import { createServer } from '@mcpx/server'
import { z } from 'zod'

/** A server that asks its user, reports progress and logs. */
export function createTravelServer() {
  return createServer({ name: 'travel', version: '1.0.0' })
    .tool('book', { input: z.object({ to: z.string() }) }, async ({ to }, ctx) => {
      await ctx.progress(1, 2, 'looking for seats')
      const seat = await ctx.elicit('seat', { message: 'Which row?', schema: z.object({ row: z.number().int() }) })
      if (seat.action !== 'accept') return 'Nothing was booked.'
      const terms = await ctx.elicit('terms', { message: 'Do you accept the terms?', schema: z.object({}) })
      return terms.action === 'accept' ? `Row ${seat.content.row} to ${to}` : 'Nothing was booked.'
    })
    .tool(
      'add',
      { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
      (args) => ({
        sum: args.a + args.b,
      }),
    )
    .tool('fail', {}, () => {
      throw new Error('disk full')
    })
    .tool('login', { input: z.object({ password: z.string() }) }, ({ password }) => `token=${password.length}`)
    .tool('write', { input: z.object({ topic: z.string() }) }, async ({ topic }, ctx) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: `Write about ${topic}` } }]
      const { content } = await ctx.sample('poem', { messages, maxTokens: 10 })
      return [content].flat().map((block) => (block.type === 'text' ? block.text : ''))[0] ?? ''
    })
    .tool(
      'slow',
      {},
      (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve('stopped'))),
    )
    .resource('seats://free', { subscribe: true }, '12')
}
