/** All pairings of a client and a server, with transport and revision. */

import { REVISIONS } from '@mcpx/protocol'

export type Peer = 'sdk-1' | 'sdk-2'

export interface Pairing {
  /** The side that uses our implementation. */
  readonly ours: 'client' | 'server'
  readonly peer: Peer
  readonly transport: 'stdio' | 'http' | 'sse'
  readonly revision: string
}

const [FIRST = ''] = REVISIONS
/** The revisions of the legacy era. */
export const legacy = REVISIONS.filter((revision) => revision < '2026')
const LAST_LEGACY = legacy.at(-1) ?? ''

/** The client of 1.x supports only its newest revision. The server of 2.x does not support the HTTP+SSE transport of
 * 2024-11-05 without another package.
 */
export const pairings: readonly Pairing[] = [
  ...each('client', 'sdk-1', 'stdio', legacy),
  ...each('client', 'sdk-1', 'http', legacy),
  ...each('client', 'sdk-1', 'sse', [FIRST]),
  ...each('client', 'sdk-2', 'stdio', REVISIONS),
  ...each('client', 'sdk-2', 'http', REVISIONS),
  ...each('server', 'sdk-1', 'stdio', [LAST_LEGACY]),
  ...each('server', 'sdk-1', 'http', [LAST_LEGACY]),
  ...each('server', 'sdk-1', 'sse', [LAST_LEGACY]),
  ...each('server', 'sdk-2', 'stdio', REVISIONS),
  ...each('server', 'sdk-2', 'http', REVISIONS),
  ...each('server', 'sdk-2', 'sse', [FIRST]),
]

function each(
  ours: Pairing['ours'],
  peer: Peer,
  transport: Pairing['transport'],
  revisions: readonly string[],
): Pairing[] {
  return revisions.map((revision) => ({ ours, peer, transport, revision }))
}

export function nameOf({ ours, peer, transport, revision }: Pairing): string {
  const [client, server] = ours === 'client' ? ['ours', peer] : [peer, 'ours']
  return `${client} -> ${server}, ${transport}, ${revision}`
}
