/** Ends what a login has begun: tokens are forgotten here, and revoked where they are from (RFC 7009). */

import { authenticate } from './client-authentication.ts'
import { failure } from './failure.ts'
import type { Fetch } from './fetch.ts'
import type { Records } from './records.ts'
import type { RenewalOptions } from './renewal.ts'
import { readServerMetadata } from './server-metadata.ts'

/** Runs where nobody else changes the tokens of this server. What cannot be revoked is forgotten all the same. */
export async function endTokens(options: RenewalOptions, records: Records, fetch: Fetch): Promise<void> {
  const { url, store, rules, flow, prover, issuer } = options
  const place = await records.place()
  const tokens = await records.forget()
  if (place === undefined || tokens === undefined) return
  const link = rules.over(fetch)
  const by = tokens.issuer === issuer ? new URL(issuer) : url
  const server = await readServerMetadata(link, { issuer: tokens.issuer, by })
  if (server?.revocationEndpoint === undefined) return
  const found = { resource: tokens.resource, scopesSupported: [], server }
  const { signal } = new AbortController()
  const client = await flow.client({ url, link, found, store, prover, clientId: place.clientId, signal })
  if (client === undefined) return
  // Whoever has the refresh token has most: it goes first.
  for (const [hint, token] of [
    ['refresh_token', tokens.refreshToken],
    ['access_token', tokens.accessToken],
  ] as const) {
    if (token === undefined) continue
    const { headers, params } = await authenticate(client, server)
    const { status } = await link.request({
      step: 'revocation',
      url: server.revocationEndpoint,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({ token, token_type_hint: hint, ...params }).toString(),
    })
    if (status !== 200) throw notRevoked(server.revocationEndpoint, status)
  }
}

function notRevoked(url: URL, status: number) {
  const hint = 'Whoever has copied them can use them until they expire: end the session at the authorization server.'
  return failure('revocation', `The tokens are forgotten here, and were not revoked: HTTP status ${status}`, {
    url,
    hint,
  })
}
