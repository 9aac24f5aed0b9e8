/** Checks of the parameters `resource` and `scope`. */

import { OAuthError } from './oauth-error.ts'
import type { CheckedOptions } from './options.ts'

/** Returns the server that a request names. Requests of older clients do not name one. */
export function findResource(resources: readonly string[], named: string | undefined): string {
  const [only, ...others] = resources
  const found =
    named === undefined ? (others.length === 0 ? only : undefined) : resources.find((each) => isSame(each, named))
  if (found !== undefined) return found
  const problem = `resource: expected ${resources.join(' or ')}, got ${named === undefined ? 'none' : 'another'}`
  throw new OAuthError('invalid_target', problem, { remedy: 'Add the server to your application with this URL.' })
}

/** Compares URLs of servers. Clients write an origin with or without a slash at its end. */
function isSame(resource: string, named: string): boolean {
  return resource === named || (URL.canParse(named) && new URL(resource).href === named) || resource === `${named}/`
}

/** Scopes of OpenID Connect, which many clients request everywhere. */
const IGNORED = ['openid', 'profile', 'email', 'offline_access']

/** Returns the scopes to grant: the requested ones that exist, or the default ones. */
export function selectScopes(
  { scopes, requiredScopes }: CheckedOptions,
  requested: string | undefined,
): readonly string[] {
  const supported = Object.keys(scopes)
  const all = new Set(parseScopes(requested))
  const wanted = [...all].filter((scope) => supported.includes(scope) || !IGNORED.includes(scope))
  if (wanted.length === 0) return requiredScopes.length === 0 ? supported : requiredScopes
  const found = wanted.filter((scope) => supported.includes(scope))
  // Unknown scopes can be left out, because the response names the granted scopes.
  if (found.length > 0 || supported.length === 0) return found
  throw new OAuthError('invalid_scope', `scope: expected one or more of ${supported.join(', ')}, got other scopes`)
}

export function parseScopes(scope: string | undefined): string[] {
  return (scope ?? '').split(' ').filter((each) => each !== '')
}
