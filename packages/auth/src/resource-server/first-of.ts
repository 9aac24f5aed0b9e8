/** Several guards at one door. */

import type { Guard } from '@mcpx/protocol'

/**
 * Lets in whom one of the guards lets in. They are asked in order; when none does, the last one answers, and it is the last
 * one that serves metadata and challenges.
 *
 * ```ts
 * mcp(server, { authenticate: firstOf(apiKeys({ keys, header: 'x-api-key' }), bearer({ issuer, audience })) })
 * ```
 */
export function firstOf(...guards: readonly [Guard, ...Guard[]]): Guard {
  const last = guards.at(-1) as Guard
  const others = guards.slice(0, -1)
  const guard: Guard = async (request: Request) => {
    for (const each of others) {
      const auth = await each(request)
      if (auth !== undefined && !(auth instanceof Response)) return auth
    }
    return last(request)
  }
  if (last.metadata !== undefined) guard.metadata = last.metadata
  if (last.refuse !== undefined) guard.refuse = last.refuse
  return guard
}
