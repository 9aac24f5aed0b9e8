/** Looks up where names lead, for the `resolve` option. */

import { lookup } from 'node:dns/promises'

/**
 * All addresses of a name, as the system finds them. With it as the `resolve` option, no name that leads into a private
 * network is asked. A name that changes between this look and the request is not noticed: where that matters, let
 * requests leave through a proxy that reaches nothing private.
 */
export async function resolveHost(hostname: string): Promise<string[]> {
  const addresses = await lookup(hostname, { all: true })
  return addresses.map(({ address }) => address)
}
