/** Methods of a handler that come and go with those of the handlers behind it. */

import type { Handler } from '@mcpx/protocol'

/** A handler with these methods, each of which is there only while `isThere` says so. */
export function membersWhile(members: Required<Handler>, isThere: (name: keyof Handler) => boolean): Handler {
  const handler: Handler = {}
  for (const [key, method] of Object.entries(members)) {
    const name = key as keyof Handler
    Object.defineProperty(handler, name, { get: () => (isThere(name) ? method : undefined), enumerable: true })
  }
  return handler
}
