/** Deletes and revokes the tokens for one server (RFC 7009). */

import type { Fetch } from './auth.ts'
import { readServerMetadata } from './discovery.ts'
import type { LoginSettings } from './renewal.ts'
import { revokeToken } from './token-endpoint.ts'
import type { TokenRecords } from './token-records.ts'

/** Runs under the lock of the server's tokens. Deletes them even if the revocation fails. */
export async function revokeTokens(settings: LoginSettings, records: TokenRecords, fetch: Fetch): Promise<void> {
  const { serverUrl, store, connect, flow, dpop, issuer } = settings
  const record = await records.server()
  const tokens = await records.deleteAll()
  if (record === undefined || tokens === undefined) return
  const connection = connect(fetch)
  const namedBy = tokens.issuer === issuer ? new URL(issuer) : serverUrl
  const server = await readServerMetadata(connection, { issuer: tokens.issuer, namedBy })
  if (server?.revocation_endpoint === undefined) return
  const discovery = { resource: tokens.resource, resourceParams: {}, scopesSupported: [], server }
  const { signal } = new AbortController()
  const client = await flow.client({
    serverUrl,
    connection,
    discovery,
    store,
    dpop,
    clientId: record.clientId,
    signal,
  })
  if (client === undefined) return
  const { refreshToken, accessToken } = tokens
  // The refresh token first: it is worth more.
  if (refreshToken !== undefined) await revokeToken(connection, server, client, 'refresh_token', refreshToken)
  await revokeToken(connection, server, client, 'access_token', accessToken)
}
