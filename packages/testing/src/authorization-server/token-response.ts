/** Issues tokens for what was granted. */

import { scopesOf } from './answers.ts'
import type { Core, Grant } from './core.ts'

export interface IssueOptions {
  readonly withRefresh: boolean
  /** Of the authorization request, for the ID token. */
  readonly nonce?: string | undefined
}

const ACCESS_TTL = 3_600
const REFRESH_TTL = 30 * 24 * 3_600

export async function issueTokens(
  core: Core,
  grant: Grant,
  { withRefresh, nonce }: IssueOptions,
): Promise<Record<string, unknown>> {
  const ttl = core.options.accessTokenTtl ?? ACCESS_TTL
  const response: Record<string, unknown> = {
    access_token: await issueAccessToken(core, grant),
    token_type: grant.jkt === undefined ? 'Bearer' : 'DPoP',
    expires_in: ttl,
    scope: grant.scopes.join(' '),
  }
  if (withRefresh) {
    const refresh = crypto.randomUUID()
    core.refreshTokens.set(refresh, { ...grant, used: false }, REFRESH_TTL * 1000)
    response.refresh_token = refresh
  }
  if (grant.scopes.includes('openid')) {
    const claims = { sub: grant.subject, aud: grant.clientId, ...(nonce === undefined ? {} : { nonce }) }
    response.id_token = await core.keys.sign(claims, 'JWT', ttl)
  }
  return response
}

export async function issueAccessToken(core: Core, grant: Grant): Promise<string> {
  const ttl = core.options.accessTokenTtl ?? ACCESS_TTL
  const issuedAt = Math.floor(Date.now() / 1000)
  const token =
    core.options.accessTokens === 'opaque'
      ? crypto.randomUUID()
      : await core.keys.sign(claimsOf(core, grant), 'at+jwt', ttl)
  core.accessTokens.set(token, { ...grant, token, issuedAt, expiresAt: issuedAt + ttl }, ttl * 1000)
  return token
}

/** What a token says, and what introspection says of it. */
export function claimsOf({ issuer }: Core, grant: Grant): Record<string, unknown> {
  const { subject, clientId, scopes, resources, jkt } = grant
  const [only = issuer, ...more] = resources
  return {
    sub: subject,
    aud: more.length === 0 ? only : resources,
    scope: scopes.join(' '),
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(jkt === undefined ? {} : { cnf: { jkt } }),
  }
}

/** A narrower grant of the same, as `scope` and `resource` of a token request ask for. */
export function narrowed(grant: Grant, form: URLSearchParams, refuse: (code: string, why: string) => Error): Grant {
  const scopes = form.has('scope') ? scopesOf(form.get('scope')) : grant.scopes
  const resources = form.has('resource') ? form.getAll('resource') : grant.resources
  if (!scopes.every((scope) => grant.scopes.includes(scope))) {
    throw refuse('invalid_scope', 'More scopes than were granted')
  }
  if (grant.resources.length > 0 && !resources.every((resource) => grant.resources.includes(resource))) {
    throw refuse('invalid_target', 'The grant was for another resource')
  }
  return { ...grant, scopes, resources }
}
