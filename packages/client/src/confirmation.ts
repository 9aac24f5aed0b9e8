/** How long a server may take to confirm a stream of changes. */

import { ConnectionError } from '@mcpx/protocol'

/** In ms. */
export const CONFIRM_TIMEOUT = 60_000

export function notConfirmed(): ConnectionError {
  return new ConnectionError('timeout', 'The server did not confirm the subscription in time')
}
