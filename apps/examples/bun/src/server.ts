/** The server. It is independent of the runtime and of the transport. */
import { createServer } from '@mcpx/server'
import { z } from 'zod'

export const server = createServer({ name: 'dice', version: '1.0.0' })
  .tool(
    'roll',
    {
      description: 'Rolls a die',
      input: z.object({ sides: z.number().int().min(2) }),
      output: z.object({ shows: z.number() }),
    },
    ({ sides }) => ({ shows: 1 + Math.floor(Math.random() * sides) }),
  )
  .tool('bet', {}, async (_, ctx) => {
    const schema = z.object({ on: z.number().int() })
    const bet = await ctx.elicit('bet', { message: 'On which number?', schema })
    return bet.action === 'accept' ? `You bet on ${bet.content.on}.` : 'You did not bet.'
  })

export type Dice = typeof server
