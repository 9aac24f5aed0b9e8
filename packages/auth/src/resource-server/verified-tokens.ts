/** Remembers for a while which tokens were found good: a digest takes less than a signature. */

import type { AuthInfo } from '@mcpx/protocol'
import { tokenHash } from '../dpop-proof.ts'
import { createExpiringMap } from '../expiring-map.ts'

/** How many tokens are remembered; another one pushes out the oldest. */
const MOST = 1_000

/**
 * Calls `verify` for tokens that are not remembered. Only what it found good is: a token that is refused costs whoever
 * sends it as much as before, and pushes out nobody else's.
 *
 * @param maxAge how long a token is remembered, in ms; never beyond its end
 */
export function rememberVerified(
  verify: (token: string) => Promise<AuthInfo>,
  maxAge: number,
): (token: string) => Promise<AuthInfo> {
  if (maxAge <= 0) return verify
  const verified = createExpiringMap<AuthInfo>(MOST, 'forget-oldest')
  return async (token) => {
    // Tokens are kept as what they cannot be made from.
    const key = await tokenHash(token)
    const known = verified.get(key)
    if (known !== undefined) return known
    const auth = await verify(token)
    const left = auth.expiresAt === undefined ? maxAge : auth.expiresAt * 1000 - Date.now()
    if (left > 0) verified.set(key, auth, Math.min(left, maxAge))
    return auth
  }
}
