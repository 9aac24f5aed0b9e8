/** Takes the credentials out of a request: https://www.rfc-editor.org/rfc/rfc6750#section-2.1 */

import { CredentialsError } from './refusal.ts'

export interface Credentials {
  readonly scheme: 'Bearer' | 'DPoP'
  readonly token: string
}

/** Longer tokens are refused unread, in characters. */
export const MAX_TOKEN = 16_384

const TOKEN68 = /^[\w.~+/-]+=*$/

/** Nothing where there are none, or only such as are meant for somebody else. */
export function readCredentials({ headers, url }: Request): Credentials | undefined {
  if (hasQueryToken(url)) {
    throw new CredentialsError('in_query', 'tokens are taken from the Authorization header, never from the URL')
  }
  const header = headers.get('authorization')
  if (header === null) return undefined
  const scheme = schemeOf(header)
  if (scheme === undefined) return undefined
  const token = header.slice(scheme.length).trim()
  if (token.length > MAX_TOKEN)
    throw new CredentialsError('too_long', `the token is longer than ${MAX_TOKEN} characters`)
  // Several Authorization headers arrive as one, with commas between them.
  if (!TOKEN68.test(token)) throw new CredentialsError('malformed', 'expected one Authorization header with one token')
  return { scheme, token }
}

export function schemeOf(header: string): 'Bearer' | 'DPoP' | undefined {
  const name = header.split(/[\s,]/, 1)[0]?.toLowerCase()
  if (name === 'bearer') return 'Bearer'
  return name === 'dpop' ? 'DPoP' : undefined
}

function hasQueryToken(url: string): boolean {
  return url.includes('?') && URL.canParse(url) && new URL(url).searchParams.has('access_token')
}
