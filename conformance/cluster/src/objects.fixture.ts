/** A Worker whose instances are Durable Objects. The first part of the path names the instance. */

import { createServer } from '@mcpx/server'
import { durableObjectStore, type ObjectNamespace } from '@mcpx/store-cloudflare'
import { tasks } from '@mcpx/tasks'
import { type McpApp, mcp } from '@mcpx/transport-http'

export { McpxStore } from '@mcpx/store-cloudflare'

interface Env {
  readonly STORE: ObjectNamespace
  readonly NODE: { idFromName(name: string): object; get(id: object): { fetch(request: Request): Promise<Response> } }
}

const form = { type: 'object', properties: { name: { type: 'string' } } } as const
const counting = { type: 'object', properties: { times: { type: 'integer' }, pause: { type: 'number' } } } as const

export class Node {
  readonly #app: McpApp
  readonly #state: { abort(): void }

  constructor(state: { abort(): void }, { STORE }: Env) {
    this.#state = state
    const id = crypto.randomUUID()
    const server = createServer(
      { name: 'node', version: '1.0.0' },
      {
        store: durableObjectStore(STORE),
        secrets: ['known to all instances'],
        extensions: [tasks({ inlineTime: 20, lease: 1_000, ttl: 60_000, pollInterval: 100 })],
      },
    )
      .tool('who', {}, () => id)
      .tool('ask', {}, async (_args, ctx) => {
        const { action, content } = await ctx.elicit('name', { message: 'Who?', schema: form })
        return `${action} ${content?.name} received by ${id}`
      })
      .tool('count', { input: counting }, async (args, ctx) => {
        const { times, pause = 0 } = args as { times: number; pause?: number }
        for (let n = 1; n <= times; n++) {
          await ctx.progress(n, times)
          await new Promise((resolve) => setTimeout(resolve, pause))
        }
        return 'counted'
      })
      .tool('ship', { task: 'required', resumable: true }, async (_args, ctx) => {
        const charged = await ctx.step('charge', () => id)
        await ctx.progress(1, 2, `charged by ${charged}`)
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        const { content } = await ctx.elicit('name', { message: 'Ship to whom?', schema: form })
        return `charged by ${charged}, shipped to ${content?.name} by ${id}`
      })
    this.#app = mcp(server, { allowedHosts: '*', sessions: { retry: 50 } })
  }

  async fetch(request: Request): Promise<Response> {
    // Clears the memory of the instance, as if its machine had failed.
    if (request.url.endsWith('/abort')) this.#state.abort()
    return this.#app.fetch(request)
  }
}

// biome-ignore lint/style/noDefaultExport: workerd reads a worker's handlers from its default export
export default {
  fetch(request: Request, env: Env): Promise<Response> {
    const [, instance = ''] = new URL(request.url).pathname.split('/')
    return env.NODE.get(env.NODE.idFromName(instance)).fetch(request)
  },
}
