/** Authenticates callers. Requests without credentials are anonymous; invalid credentials are rejected. */
import { apiKeys, firstOf } from '@mcpx/auth/resource-server'
import type { Guard } from '@mcpx/protocol'
import type { DevAuthorizationServer } from '@mcpx/testing/authorization-server'
import { guardPartners, type Partner } from './partners.ts'
import { guardTokens } from './tokens.ts'

/** Accepts an admin key as `Authorization: Bearer <key>`. */
export function guardByKey(adminKey: string): Guard {
  return allowAnonymous(apiKeys({ keys: [{ key: adminKey, subject: 'admin', scopes: ['admin'] }] }))
}

/** Accepts the admin key in `x-api-key`, and tokens of the authorization server or of a partner. */
export function guardByLogin(url: string, login: DevAuthorizationServer, adminKey: string, partner?: Partner): Guard {
  const keys = apiKeys({
    keys: [
      {
        key: adminKey,
        subject: 'admin',
        scopes: ['admin'],
        clientId: 'scripts',
        // An expiry forces keys to be rotated.
        expiresAt: Date.now() / 1_000 + 90 * 24 * 3_600,
      },
    ],
    header: 'x-api-key',
  })
  // The last guard provides the challenge that tells clients where to log in.
  const tokens = guardTokens(url, login)
  return allowAnonymous(
    partner === undefined ? firstOf(keys, tokens) : firstOf(keys, guardPartners(url, partner), tokens),
  )
}

function allowAnonymous(inner: Guard): Guard {
  const guard: Guard = (request) => {
    const { headers } = request
    return headers.has('authorization') || headers.has('x-api-key') ? inner(request) : undefined
  }
  // Keeps the metadata and the challenge of the inner guard.
  return Object.assign(guard, { metadata: inner.metadata, refuse: inner.refuse })
}
