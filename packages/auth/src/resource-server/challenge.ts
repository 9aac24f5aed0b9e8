/** The header by which a client learns what is lacking: https://www.rfc-editor.org/rfc/rfc6750#section-3 */

import { isScope } from './scopes.ts'

export interface Challenge {
  readonly scheme: 'Bearer' | 'DPoP'
  readonly error?: string | undefined
  readonly description?: string | undefined
  readonly scopes?: readonly string[] | undefined
  /** Where the metadata of this server is. */
  readonly metadata?: string | undefined
  /** The algorithms of proofs. */
  readonly algorithms?: readonly string[] | undefined
}

export function writeChallenge(challenge: Challenge): string {
  const { scheme, error, description, scopes = [], metadata, algorithms } = challenge
  // A refresh token is the client's own wish, and nothing that a resource needs.
  const asked = scopes.filter((scope) => isScope(scope) && scope !== 'offline_access')
  const members: readonly (readonly [string, string | undefined])[] = [
    ['error', error],
    ['error_description', description],
    ['scope', asked.length === 0 ? undefined : asked.join(' ')],
    ['resource_metadata', metadata],
    ['algs', algorithms?.join(' ')],
  ]
  const given = members.filter((member): member is readonly [string, string] => member[1] !== undefined)
  const written = given.map(([name, value]) => `${name}="${printable(value)}"`)
  return written.length === 0 ? scheme : `${scheme} ${written.join(', ')}`
}

/** Of the characters that a quoted text may hold without escapes: not all clients know those. */
function printable(text: string): string {
  return text.replaceAll('"', "'").replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
