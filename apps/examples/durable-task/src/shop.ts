/**
 * A shop that charges, waits for an approval, packs and ships. Each step continues in another process if its process is
 * killed.
 */
import { appendFile } from 'node:fs/promises'
import { createServer, type Store } from '@mcpx/server'
import { tasks } from '@mcpx/tasks'
import { z } from 'zod'

/**
 * @param name the name of this process
 * @param ledger a file that simulates the services that the shop calls: each action adds a line
 */
export function createShop(store: Store, name: string, ledger: string) {
  async function act(action: string): Promise<string> {
    const line = `${action} by ${name}`
    await appendFile(ledger, `${line}\n`)
    return line
  }

  return createServer(
    { name: 'shop', version: '1.0.0' },
    {
      store,
      // The arguments and the caller of a task are stored encrypted, so every process needs the same secrets.
      secrets: ['at least 16 random characters, the same in every process'],
      // If a process is killed, another process continues its tasks after at most this time. The default is 30,000 ms.
      extensions: [tasks({ lease: 1_000, pollInterval: 100 })],
    },
  ).tool(
    'order',
    { description: 'Orders an item', input: z.object({ item: z.string() }), task: 'required', resumable: true },
    async ({ item }, ctx) => {
      // The handler begins again in another process. A finished step returns its stored result. An answered question
      // returns its stored answer.
      const charged = await ctx.step('charge', () => act('charged'))
      const schema = z.object({ approved: z.boolean() })
      const answer = await ctx.elicit('approve', { message: `Ship the ${item}? It is ${charged}`, schema })
      if (!answer.content?.approved) return ctx.step('refund', () => act('refunded'))
      const packed = await ctx.step('pack', () => act('packed'))
      await ctx.progress(2, 3, packed)
      await new Promise((resolve) => setTimeout(resolve, 500)) // until the carrier comes
      const shipped = await ctx.step('ship', () => act('shipped'))
      return `${item}: ${charged}, ${packed}, ${shipped}`
    },
  )
}
