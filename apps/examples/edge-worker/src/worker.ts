/** A server as a worker. Nothing stays between requests that could be relied on: the next one may reach another machine. */
import { env } from 'cloudflare:workers'
import { createServer } from '@mcpx/server'
import { mcp } from '@mcpx/transport-http'
import { z } from 'zod'

const server = createServer(
  { name: 'shop', version: '1.0.0' },
  // A call that waits for an answer of the user travels with the client, sealed by this. Every instance has to have it.
  { secrets: [env.SECRET] },
).tool('order', { input: z.object({ dish: z.string() }) }, async ({ dish }, ctx) => {
  const receipt = await ctx.step('pay', () => ({ id: crypto.randomUUID() }))
  const schema = z.object({ table: z.number().int() })
  const answer = await ctx.elicit('table', { message: 'Which table?', schema })
  return answer.action === 'accept' ? `${dish} for table ${answer.content.table}, receipt ${receipt.id}` : 'No order.'
})

export type Shop = typeof server

// biome-ignore lint/style/noDefaultExport: workerd takes a worker's handlers from its default export
export default mcp(server, {
  allowedHosts: ['shop.example.com', '127.0.0.1'],
  // Sessions of the older revisions are kept in memory unless they are given a store: here each request stands alone.
  sessions: false,
})
