/** Keeps one speaking connection to a server, and makes a new one when it is needed and the old one is gone. */

import { ConnectionError } from '@mcpx/protocol'
import type { Core } from './core.ts'
import { eraMemory } from './era-memory.ts'
import type { Link } from './eras/era.ts'
import { openLink } from './eras/select.ts'
import type { Target } from './line.ts'

export interface LinkKeeper {
  /** The newest link, which may have ended. */
  readonly latest: Link
  /** A link that has not ended. Rejects once the client is closed. */
  link(): Promise<Link>
  /** Does something over such a link: once more in a new session if the server refused it because it has lost the old one. */
  use<Result>(run: (link: Link) => Promise<Result>): Promise<Result>
  close(): Promise<void>
  /** Fires when the client is closed. */
  readonly closing: AbortSignal
}

/** Connects at once. */
export async function keepLink(core: Core, target: Target): Promise<LinkKeeper> {
  const memory = core.options.eraMemory ?? eraMemory
  const closing = new AbortController()
  let opening: Promise<Link> | undefined
  let latest = await openLink(core, target, memory)

  function throwIfClosed(): void {
    if (closing.signal.aborted) throw new ConnectionError('closed', 'The client was closed')
  }

  async function reopen(): Promise<Link> {
    try {
      await latest.connection.close()
      const link = await openLink(core, target, memory, closing.signal)
      latest = link
      if (closing.signal.aborted) await link.connection.close()
      throwIfClosed()
      return link
    } finally {
      opening = undefined
    }
  }

  async function openLinkIfEnded(): Promise<Link> {
    throwIfClosed()
    if (!latest.ended) return latest
    opening ??= reopen()
    return opening
  }

  return {
    get latest() {
      return latest
    },
    link: openLinkIfEnded,
    async use(run) {
      const link = latest.ended || closing.signal.aborted ? await openLinkIfEnded() : latest
      try {
        return await run(link)
      } catch (error) {
        if (!isSessionLost(error)) throw error
        await link.connection.closed
        return run(await openLinkIfEnded())
      }
    },
    async close() {
      closing.abort(new ConnectionError('closed', 'The client was closed'))
      await latest.connection.close()
      await opening?.catch(() => {})
    },
    closing: closing.signal,
  }
}

/** What was refused for this reason was not done. */
function isSessionLost(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === 'closed' && error.status === 404 && error.retryable
}
