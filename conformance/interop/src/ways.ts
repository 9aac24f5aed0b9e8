/** Who meets whom, over what, in which revision. */

import { REVISIONS } from '@mcpx/protocol'

export type Peer = 'sdk-1' | 'sdk-2'

export interface Way {
  /** Which of the two is ours. */
  readonly ours: 'client' | 'server'
  readonly peer: Peer
  readonly carrier: 'stdio' | 'http' | 'sse'
  readonly revision: string
}

const [FIRST = ''] = REVISIONS
/** Those with sessions. */
export const legacy = REVISIONS.filter((revision) => revision < '2026')
const LAST_LEGACY = legacy.at(-1) ?? ''

/**
 * The client of 1.x asks for the newest revision it knows, and no other; the server of 2.x leaves the transport of
 * 2024-11-05 to another package.
 */
export const ways: readonly Way[] = [
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

function each(ours: Way['ours'], peer: Peer, carrier: Way['carrier'], revisions: readonly string[]): Way[] {
  return revisions.map((revision) => ({ ours, peer, carrier, revision }))
}

export function nameOf({ ours, peer, carrier, revision }: Way): string {
  const [client, server] = ours === 'client' ? ['ours', peer] : [peer, 'ours']
  return `${client} -> ${server}, ${carrier}, ${revision}`
}
