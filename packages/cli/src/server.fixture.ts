/** A server with a tool, a resource and a prompt of each kind, for the tests of commands. */

import { createServer, image, ToolError } from '@mcpx/server'
import { z } from 'zod'

export const server = createServer(
  { name: 'shop', title: 'The shop', version: '1.2.3' },
  { instructions: 'Search before you buy.' },
)
  .tool(
    'search',
    {
      description: 'Search the shop.\n\nReturns the best hits first.',
      input: z.object({
        q: z.string().describe('words to look for'),
        limit: z.number().int().optional(),
        tags: z.array(z.string()).optional(),
        exact: z.boolean().optional(),
        price: z.object({ min: z.number().optional(), max: z.number().optional() }).optional(),
      }),
      output: z.object({ hits: z.array(z.string()) }),
    },
    ({ q, limit = 2, ...rest }) => ({ hits: [`${q} ${limit} ${JSON.stringify(rest)}`] }),
  )
  .tool('fail', { description: 'Always fails.' }, () => {
    throw new ToolError('The shop is closed')
  })
  .tool('picture', {}, () => image(Buffer.from('not really a png'), 'image/png'))
  .tool('slow', {}, async (_, ctx) => {
    for (let step = 1; step <= 3; step++) {
      await ctx.progress(step, 3, `step ${step}`)
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
    return 'done'
  })
  .tool('buy', { description: 'Asks how many.' }, async (_, ctx) => {
    const answer = await ctx.elicit('count', {
      message: 'How many?',
      schema: z.object({
        count: z.number().int().min(1).max(9),
        size: z.enum(['small', 'large']).default('small'),
        gift: z.boolean().optional(),
      }),
    })
    return answer.action === 'accept' ? `bought ${JSON.stringify(answer.content)}` : `not bought: ${answer.action}`
  })
  .tool('pay', { description: 'Sends you to a page.' }, async (_, ctx) => {
    const { action } = await ctx.openUrl('page', { message: 'Pay here.', url: 'https://pay.example/now?id=1' })
    return `paid: ${action}`
  })
  .resource('shop://terms', { title: 'Terms', mimeType: 'text/plain' }, () => 'All sales are final.\n')
  .resource('shop://item/{id}', { description: 'One item' }, ({ id }) => ({ id }))
  .prompt(
    'review',
    { description: 'Review an item', args: z.object({ item: z.string(), tone: z.string().optional() }) },
    ({ item }) => `Review ${item}.`,
  )
