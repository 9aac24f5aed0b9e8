/** Reaches a server over HTTP. */

import type { Connector } from '@mcpx/protocol'
import { createConnection } from './connection.ts'
import { type HttpOptions, settle } from './options.ts'

/**
 * A server at a URL, of any age. Nothing is sent before something is asked.
 *
 * ```ts
 * const client = await connect(http('https://example.com/mcp', { headers: { authorization: `Bearer ${token}` } }))
 * ```
 *
 * @throws TypeError for a URL that is none, or is not of HTTP, or holds credentials
 * @throws RangeError for a number that an option does not take
 */
export function http(url: string | URL, options: HttpOptions = {}): Connector {
  const settings = settle(url, options)
  return {
    connect: (options) => createConnection(settings, options),
    // One origin may serve several servers, and not all of one age.
    peer: `${settings.url.origin}${settings.url.pathname}`,
    probeTimeout: settings.probeTimeout,
    // What lies between may be slow or broken; a server that is there answers.
    silence: 'nothing',
  }
}
