/** Says who is asking. Anonymous callers are let in, to what is for everybody; whoever shows something has to be known. */
import { apiKeys, firstOf } from '@mcpx/auth/resource-server'
import type { Guard } from '@mcpx/protocol'
import type { DevAuthorizationServer } from '@mcpx/testing/authorization-server'
import { guardPartners, type Partner } from './partners.ts'
import { guardTokens } from './tokens.ts'

/** Whoever brings the key, as `Authorization: Bearer <key>`, is an admin. */
export function guardByKey(adminKey: string): Guard {
  return lettingAnonymousIn(apiKeys({ keys: [{ key: adminKey, subject: 'admin', scopes: ['admin'] }] }))
}

/** The key comes as a header of its own; tokens are those of an authorization server, or of that of a partner. */
export function guardByLogin(url: string, login: DevAuthorizationServer, adminKey: string, partner?: Partner): Guard {
  const keys = apiKeys({
    keys: [
      {
        key: adminKey,
        subject: 'admin',
        scopes: ['admin'],
        clientId: 'scripts',
        // Keys that end are drawn anew from time to time.
        expiresAt: Date.now() / 1_000 + 90 * 24 * 3_600,
      },
    ],
    header: 'x-api-key',
  })
  // The last one is who tells clients where to log in.
  const tokens = guardTokens(url, login)
  return lettingAnonymousIn(
    partner === undefined ? firstOf(keys, tokens) : firstOf(keys, guardPartners(url, partner), tokens),
  )
}

function lettingAnonymousIn(known: Guard): Guard {
  const guard: Guard = (request) => {
    const { headers } = request
    return headers.has('authorization') || headers.has('x-api-key') ? known(request) : undefined
  }
  // Metadata that says where to log in, and the challenge that sends callers there.
  return Object.assign(guard, { metadata: known.metadata, refuse: known.refuse })
}
