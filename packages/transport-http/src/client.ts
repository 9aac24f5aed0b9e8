/** Connects clients to servers over HTTP. */

import type { Connector } from '@mcpx/protocol'
import { HttpConnection } from './client/connection.ts'
import { type HttpOptions, readOptions } from './client/options.ts'

/**
 * Creates a connector for a server at a URL, of any revision. Sends no request before `connect`.
 *
 * ```ts
 * const client = await connect(http('https://example.com/mcp', { headers: { authorization: `Bearer ${token}` } }))
 * ```
 *
 * @throws TypeError for an unknown option, or for a URL that is invalid, is not an HTTP URL, or contains credentials
 * @throws RangeError for a number that an option does not accept
 */
export function http(url: string | URL, options: HttpOptions = {}): Connector {
  const settings = readOptions(url, options)
  const { hostname, port, protocol } = settings.url
  return {
    connect: (connectOptions) => new HttpConnection(settings, connectOptions),
    // One origin may serve several servers of different revisions.
    peer: `${settings.url.origin}${settings.url.pathname}`,
    probeTimeout: settings.probeTimeout,
    // A missing response does not show the era: a running server always responds, but a network or gateway may be slow.
    silence: 'nothing',
    network: {
      transport: 'tcp',
      protocol: 'http',
      address: hostname,
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
    },
  }
}

export type { AuthTarget, Fetch, HttpOptions, ReconnectOptions } from './client/options.ts'
