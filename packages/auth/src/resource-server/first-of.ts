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
      // Hono's server for Node replaces the global Response: one that is not made by its name is none of its instances.
      if (auth !== undefined && 'subject' in auth) return auth
    }
    return last(request)
  }
  if (last.metadata !== undefined) guard.metadata = last.metadata
  if (last.refuse !== undefined) guard.refuse = last.refuse
  return guard
}
