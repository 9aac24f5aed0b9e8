/** A server behind a proxy, with a revision for each connection. */

import { type Client, proxy } from '@mcpx/client'
import { REVISIONS, type Revision } from '@mcpx/protocol'
import { createServer, type Server, ToolError } from '@mcpx/server'
import * as z from 'zod'
import type { Rig } from './rig.ts'

const name = z.object({ name: z.string() })

/** The server behind the proxy. */
export function upstream() {
  return createServer({ name: 'upstream', version: '1' }, { pageSize: 2 })
    .tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b))
    .tool('fail', {}, () => {
      throw new ToolError('No.')
    })
    .tool('talk', {}, async (_args, ctx) => {
      await ctx.progress(1, 2)
      await ctx.log.warning('careful', 'up')
      await ctx.progress(2, 2)
      return 'talked'
    })
    .tool('ask', {}, async (_args, ctx) => {
      const first = await ctx.elicit('first', { message: 'First?', schema: name })
      const second = await ctx.elicit('second', { message: 'Second?', schema: name })
      return `${first.content?.name} ${second.content?.name}`
    })
    .tool('folders', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()))
    .prompt('greet', { args: name, complete: { name: ['Ada', 'Bob'] } }, (args) => `Hello ${args.name}`)
    .resource('note://a', { subscribe: true }, 'a')
    .resource('item://{id}', {}, ({ id }) => `item ${id}`)
}

/** The capabilities that a proxy client must declare to a legacy server, because it has no callbacks. */
const capabilities = { elicitation: { form: {} }, roots: {} }

export async function createProxy(rig: Rig, server: Server, era: Revision): Promise<Server> {
  const client: Client = (await rig.connect(server, { era, capabilities })) as Client
  return createServer({ name: 'proxy', version: '1' }).mount('up', proxy(client))
}

export async function forEachRevision(
  run: (era: Revision) => Promise<void>,
  eras: readonly Revision[] = REVISIONS,
): Promise<void> {
  for (const era of eras) {
    try {
      await run(era)
    } catch (error) {
      throw new Error(`With an upstream of ${era}: ${(error as Error).message}`, { cause: error })
    }
  }
}
