/** How a handler says that there is no such resource. */

import { resourceNotFound as notFound, type RpcError } from '@mcpx/protocol'

/**
 * The error to throw for a URI that names nothing. Each client gets it in the form that its revision has.
 *
 * ```ts
 * throw resourceNotFound('note://7')
 * ```
 */
export function resourceNotFound(uri: string): RpcError {
  return notFound(uri, 'modern')
}
