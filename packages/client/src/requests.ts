/** Sends a request over the connection of the time: when its turn has come, and once more if the session was lost. */

import { ConnectionError, type JsonObject } from '@mcpx/protocol'
import type { Core } from './core.ts'
import type { Link } from './eras/era.ts'
import type { LinkKeeper } from './link-keeper.ts'
import type { RequestCallOptions } from './options.ts'
import type { Turns } from './turns.ts'

type Send = (method: string, params: JsonObject, options: RequestCallOptions) => Promise<JsonObject>

export function createRequests(core: Core, keeper: LinkKeeper): Send {
  const isAtHand = (link: Link) => !link.ended && !keeper.closing.aborted

  /** What a server refused because it has lost the session was not done: it is sent once more in a new one. */
  async function sendOver(link: Link, ...[method, params, options]: Parameters<Send>): Promise<JsonObject> {
    try {
      return await link.request(method, params, options)
    } catch (error) {
      if (!isSessionLost(error)) throw error
      await link.connection.closed
      return (await keeper.link()).request(method, params, options)
    }
  }

  return async (method, params, options) => {
    const link = isAtHand(keeper.latest) ? keeper.latest : await keeper.link()
    if (options.onLog === undefined && options.onAsk === undefined) return sendOver(link, method, params, options)
    const turns = core.turns ?? (await loadTurns(core))
    const timeout = options.timeout ?? core.options.timeout
    return turns.run(link, method, { ...options, timeout }, async () => {
      // The one that it waited for may have been the last over the old connection.
      return sendOver(isAtHand(link) ? link : await keeper.link(), method, params, options)
    })
  }
}

/** Only calls need them that want to hear what is said meanwhile. There is one of them, however many calls load it. */
async function loadTurns(core: Core): Promise<Turns> {
  const { createTurns } = await import('./turns.ts')
  core.turns ??= createTurns(core.handlers.capabilities)
  return core.turns
}

function isSessionLost(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === 'closed' && error.status === 404 && error.retryable
}
