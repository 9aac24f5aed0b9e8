/** A server as a worker. It keeps no state between requests, because another machine may receive the next request. */
import { env } from 'cloudflare:workers'
import { createServer } from '@mcpx/server'
import { mcp } from '@mcpx/transport-http'
import { z } from 'zod'

const server = createServer(
  { name: 'shop', version: '1.0.0' },
  // Encrypts the state of a call that waits for the user; the client keeps that state. All instances need the same secret.
  { secrets: [env.SECRET] },
).tool('order', { input: z.object({ dish: z.string() }) }, async ({ dish }, ctx) => {
  const receipt = await ctx.step('pay', () => ({ id: crypto.randomUUID() }))
  const schema = z.object({ table: z.number().int() })
  const answer = await ctx.elicit('table', { message: 'Which table?', schema })
  return answer.action === 'accept' ? `${dish} for table ${answer.content.table}, receipt ${receipt.id}` : 'No order.'
})

export type Shop = typeof server

// biome-ignore lint/style/noDefaultExport: workerd reads a worker's handlers from its default export
export default mcp(server, {
  allowedHosts: ['shop.example.com', '127.0.0.1'],
  // This disables the sessions of the legacy era, because they would be stored in the memory of one instance.
  sessions: false,
})
