/** A tool that asks its user twice and pays once. The handler is a straight line; nothing in it knows of eras. */
import { createServer, elicit } from '@mcpx/server'
import { z } from 'zod'

/** What has been paid: the outside world, in which nothing may happen twice. */
export const payments: string[] = []

export const server = createServer(
  { name: 'theatre', version: '1.0.0' },
  // An unfinished call travels with its client, sealed by this. Any process that has it can carry the call on.
  { secrets: ['a secret that all processes share'] },
).tool('reserve', { input: z.object({ play: z.string() }) }, async ({ play }, ctx) => {
  // Two questions that do not depend on each other go into one round.
  const { seats, name } = await ctx.ask({
    seats: elicit({ message: 'How many seats?', schema: z.object({ count: z.number().int().min(1).max(8) }) }),
    name: elicit({ message: 'For whom?', schema: z.object({ name: z.string() }) }),
  })
  if (seats?.action !== 'accept' || name?.action !== 'accept') return 'Nothing was reserved.'

  // The handler may be entered again for the next answer: what must happen once is a step, and its result is kept.
  const receipt = await ctx.step('pay', () => {
    payments.push(`${seats.content.count} × ${play}`)
    return { id: payments.length }
  })

  const card = await ctx.elicit('card', { message: 'Write a greeting?', schema: z.object({ text: z.string() }) })
  const greeting = card.action === 'accept' ? `, with "${card.content.text}"` : ''
  return `${seats.content.count} seats in ${play} for ${name.content.name}${greeting}. Receipt ${receipt.id}.`
})

export type Theatre = typeof server
