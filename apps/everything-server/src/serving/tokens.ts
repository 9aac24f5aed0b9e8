/** The tokens of the authorization server that belongs to this server: JWTs, which it checks by itself. */
import { type BearerGuard, bearer, createMemoryReplayStore } from '@mcpx/auth/resource-server'
import type { DevAuthorizationServer } from '@mcpx/testing/authorization-server'

export function guardTokens(url: string, login: DevAuthorizationServer): BearerGuard {
  return bearer({
    audience: url,
    issuer: login.issuer,
    // The authorization server is in this process: no network leads there.
    fetch: (input, init) => login.fetch(new Request(input, init)),
    algorithms: ['ES256'],
    clockTolerance: 10,
    // Who owns the place may do what admins may.
    implies: { owner: ['admin'] },
    // Groups count as scopes, beside those that were granted.
    scopesIn: ({ scope = '', groups = [] }) => [...String(scope).split(' '), ...[groups].flat().map(String)],
    dpop: {
      replays: createMemoryReplayStore({ maxIds: 10_000 }),
      required: false,
      algorithms: ['ES256', 'EdDSA'],
      maxAge: 60,
      // Processes behind one address take each other's nonces.
      nonces: { secret: process.env.EVERYTHING_NONCES ?? crypto.randomUUID(), ttl: 120 },
      // Clients sign the address that they know, whatever a proxy makes of it.
      url: (request) => new URL(new URL(request.url).pathname, url).href,
    },
    metadata: { name: 'Everything', documentation: 'https://example.com/everything', scopes: ['admin'] },
    timeout: 2_000,
    maxAge: 300_000,
    keepVerified: 30_000,
    cooldown: 10_000,
    onRefused: ({ status, description }) => console.error(`refused with ${status}: ${description}`),
    onWarning: (problem) => console.error(problem.message),
  })
}
