/** What a token says, as facts about the caller. */

import type { AuthInfo } from '@mcpx/protocol'
import { CredentialsError } from './refusal.ts'
import { type Hierarchy, scopesOf } from './scopes.ts'

export type Claims = Readonly<Record<string, unknown>>

export interface ClaimRules {
  readonly hierarchy: Hierarchy
  /** Added to `exp`, in seconds: a token that was let in within it does not end at once. */
  readonly clockTolerance: number
  /** Finds the scopes where they are not in `scope` or `scp`. */
  readonly scopesIn?: ((claims: Claims) => readonly string[]) | undefined
}

/** Tokens of machines may name the client only. */
export function toAuthInfo(claims: Claims, { hierarchy, clockTolerance, scopesIn = scopesOf }: ClaimRules): AuthInfo {
  const clientId = text(claims.client_id) ?? text(claims.azp) ?? text(claims.cid)
  const subject = text(claims.sub) ?? clientId
  if (subject === undefined) throw new CredentialsError('claims', 'the token says neither whose nor which client it is')
  const expiresAt = typeof claims.exp === 'number' ? claims.exp + clockTolerance : undefined
  // It may serve several requests: what one handler makes of it is not for the next one to see.
  return Object.freeze({
    subject,
    issuer: text(claims.iss),
    clientId,
    scopes: Object.freeze([...hierarchy.whole(scopesIn(claims))]),
    expiresAt,
    claims: frozen(claims),
  })
}

/** The same JSON, which nobody can change any more. */
function frozen<T>(json: T): T {
  if (typeof json !== 'object' || json === null || Object.isFrozen(json)) return json
  for (const member of Object.values(json)) frozen(member)
  return Object.freeze(json)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Whether a token that lists these audiences is for this server. */
export function isFor(audience: unknown, ours: readonly string[]): boolean {
  const listed: readonly unknown[] = Array.isArray(audience) ? audience : [audience]
  return listed.some((each) => typeof each === 'string' && ours.includes(each))
}
