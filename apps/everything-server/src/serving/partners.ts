/** Verifies tokens of a partner's authorization server: JWTs, opaque tokens by introspection, and fixed tokens of machines. */
import { bearer } from '@mcpx/auth/resource-server'
import type { Guard } from '@mcpx/protocol'

export interface Partner {
  readonly issuer: string
  /** The URLs of its JWKS and of its introspection endpoint. */
  readonly keys: string
  readonly introspection: string
  /** The credentials of this server for introspection. */
  readonly clientId: string
  readonly clientSecret: string
  /** The fixed tokens of machines. The value is the name of the machine. */
  readonly machines: ReadonlyMap<string, string>
  readonly fetch?: typeof fetch
}

export function guardPartners(url: string, partner: Partner): Guard {
  const { issuer, keys, introspection: endpoint, clientId, clientSecret } = partner
  return bearer({
    audience: url,
    issuers: [{ issuer, jwksUri: keys, algorithms: ['ES256', 'RS256'] }],
    // Results are not cached, so that revoked tokens are rejected at once.
    introspection: { endpoint, clientId, clientSecret, method: 'post', maxAge: 0, maxEntries: 100, tokens: 'opaque' },
    // Every token of the partner needs this scope.
    scopes: ['partner'],
    verify: (token) => {
      const subject = partner.machines.get(token)
      return subject === undefined ? undefined : { subject, issuer, scopes: ['partner'] }
    },
    dpop: false,
    fetch: partner.fetch,
  })
}
