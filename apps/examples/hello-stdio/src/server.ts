/** A server over stdio. */
import { createServer } from '@mcpx/server'
import { serveStdio } from '@mcpx/transport-stdio'
import { z } from 'zod'

const server = createServer({ name: 'desk', version: '1.0.0' })
  .tool(
    'add',
    { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
    ({ a, b }) => {
      console.log(`adding ${a} and ${b}`) // goes to stderr
      return { sum: a + b }
    },
  )
  .tool('order', { input: z.object({ dish: z.string() }) }, async ({ dish }, ctx) => {
    const schema = z.object({ table: z.number().int() })
    const answer = await ctx.elicit('table', { message: 'Which table?', schema })
    return answer.action === 'accept' ? `${dish} for table ${answer.content.table}` : 'No order.'
  })
  .tool('wait', { description: 'Waits until the call is cancelled' }, async (_, ctx) => {
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    return 'cancelled'
  })
  .tool('crash', { description: 'Ends the process' }, () => {
    console.error('out of paper')
    process.exit(3)
  })

export type Desk = typeof server

await serveStdio(server)
