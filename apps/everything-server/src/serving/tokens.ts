/** Verifies the JWTs of this server's own authorization server. */
import { type BearerGuard, bearer, createMemoryReplayStore } from '@mcpx/auth/resource-server'
import type { DevAuthorizationServer } from '@mcpx/testing/authorization-server'

export function guardTokens(url: string, login: DevAuthorizationServer): BearerGuard {
  return bearer({
    audience: url,
    issuer: login.issuer,
    // The authorization server runs in this process and is called without a network.
    fetch: (input, init) => login.fetch(new Request(input, init)),
    algorithms: ['ES256'],
    clockTolerance: 10_000,
    // Owners have the rights of admins.
    implies: { owner: ['admin'] },
    // Groups count as scopes, in addition to the granted scopes.
    readScopes: ({ scope = '', groups = [] }) => [...String(scope).split(' '), ...[groups].flat().map(String)],
    dpop: {
      replayStore: createMemoryReplayStore({ maxIds: 10_000, perCaller: 0.5 }),
      required: false,
      algorithms: ['ES256', 'EdDSA'],
      maxAge: 60_000,
      // Processes behind one address accept each other's nonces.
      nonces: { secret: process.env.EVERYTHING_NONCES ?? crypto.randomUUID(), ttl: 120_000 },
      // Clients sign the public URL. Behind a proxy, the server may see a different URL.
      url: (request) => new URL(new URL(request.url).pathname, url).href,
    },
    metadata: { name: 'Everything', documentation: 'https://example.com/everything', scopes: ['admin'] },
    timeout: 2_000,
    maxAge: 300_000,
    verifiedMaxAge: 30_000,
    cooldown: 10_000,
    onRefused: ({ status, description }) => console.error(`refused with ${status}: ${description}`),
    onWarning: (problem) => console.error(problem.message),
  })
}
