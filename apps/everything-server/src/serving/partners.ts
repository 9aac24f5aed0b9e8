/** The tokens of somebody else's authorization server: JWTs, opaque ones, which it is asked about, and those of machines. */
import { bearer } from '@mcpx/auth/resource-server'
import type { Guard } from '@mcpx/protocol'

export interface Partner {
  readonly issuer: string
  /** Where its keys are, and where it answers what a token is worth. */
  readonly keys: string
  readonly introspection: string
  /** What this server shows it before it asks. */
  readonly clientId: string
  readonly clientSecret: string
  /** What its machines show that know no tokens, with their names. */
  readonly machines: ReadonlyMap<string, string>
  readonly fetch?: typeof fetch
}

export function guardPartners(url: string, partner: Partner): Guard {
  const { issuer, keys, introspection: endpoint, clientId, clientSecret } = partner
  return bearer({
    audience: url,
    issuers: [{ issuer, jwksUri: keys, algorithms: ['ES256', 'RS256'] }],
    // What was revoked must not work any more, so that no answer is kept.
    introspection: { endpoint, clientId, clientSecret, method: 'post', maxAge: 0, maxKept: 100, tokens: 'opaque' },
    // Whoever comes from there needs this scope, whatever they want.
    scopes: ['partner'],
    verify: (token) => {
      const subject = partner.machines.get(token)
      return subject === undefined ? undefined : { subject, issuer, scopes: ['partner'] }
    },
    dpop: false,
    fetch: partner.fetch,
  })
}
