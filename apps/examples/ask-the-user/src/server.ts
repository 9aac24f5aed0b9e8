/** A tool that asks the user twice and pays once. The same handler works in both eras. */
import { createServer, elicit } from '@mcpx/server'
import { z } from 'zod'

/** All payments so far. A payment is a side effect that must not happen twice. */
export const payments: string[] = []

export const server = createServer(
  { name: 'theatre', version: '1.0.0' },
  // Encrypts the state of an unfinished call, which the client keeps. Any process with this secret can continue the call.
  { secrets: ['a secret that all processes share'] },
).tool('reserve', { input: z.object({ play: z.string() }) }, async ({ play }, ctx) => {
  // Independent input requests are sent together in one round.
  const { seats, name } = await ctx.ask({
    seats: elicit({ message: 'How many seats?', schema: z.object({ count: z.number().int().min(1).max(8) }) }),
    name: elicit({ message: 'For whom?', schema: z.object({ name: z.string() }) }),
  })
  if (seats?.action !== 'accept' || name?.action !== 'accept') return 'Nothing was reserved.'

  // The handler may run again when the next answer arrives. A step runs once, and its result is remembered.
  const receipt = await ctx.step('pay', () => {
    payments.push(`${seats.content.count} × ${play}`)
    return { id: payments.length }
  })

  const card = await ctx.elicit('card', { message: 'Write a greeting?', schema: z.object({ text: z.string() }) })
  const greeting = card.action === 'accept' ? `, with "${card.content.text}"` : ''
  return `${seats.content.count} seats in ${play} for ${name.content.name}${greeting}. Receipt ${receipt.id}.`
})

export type Theatre = typeof server
