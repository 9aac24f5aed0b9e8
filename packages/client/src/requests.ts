/** Sends requests: at once, or when their turn has come. */

import type { JsonObject } from '@mcpx/protocol'
import { inCallersContext } from './call-context.ts'
import type { Core } from './core.ts'
import type { LinkKeeper } from './link-keeper.ts'
import type { RequestCallOptions } from './options.ts'
import type { Turns } from './turns.ts'

type Send = (method: string, params: JsonObject, options: RequestCallOptions) => Promise<JsonObject>

export function createRequests(core: Core, keeper: LinkKeeper): Send {
  return async (method, params, given) => {
    const options = inCallersContext(given)
    const send = () => keeper.use((link) => link.request(method, params, options))
    if (options.onLog === undefined && options.onAsk === undefined) return send()
    const turns = core.turns ?? (await loadTurns(core))
    const timeout = options.timeout ?? core.options.timeout
    return turns.run(await keeper.link(), method, { ...options, timeout }, send)
  }
}

/** Only calls need them that want to hear what is said meanwhile. There is one of them, however many calls load it. */
async function loadTurns(core: Core): Promise<Turns> {
  const { createTurns } = await import('./turns.ts')
  core.turns ??= createTurns(core.handlers.capabilities)
  return core.turns
}
