/** Reads challenges in `WWW-Authenticate` headers (RFC 9110, section 11.6.1). */

import { isScope } from '../resource-server/scopes.ts'

/** The longest header, in characters. The rest of a longer header is ignored. */
const MAX_HEADER_LENGTH = 16_384

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
/** A parameter `name = value`, where the value is a token or quoted. */
const PARAM = new RegExp(`\\s*(${TOKEN})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\[\\s\\S])*)"|(${TOKEN}))\\s*(?=,|$)`, 'y')
/** A scheme, alone or before its parameters. */
const SCHEME = new RegExp(`\\s*(${TOKEN})(?:\\s+|(?=\\s*(?:,|$)))`, 'y')
/** A token68 value, which some schemes have instead of parameters. */
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*\s*(?=,|$)/y

interface ParsedChallenge {
  /** The name of the scheme, in lower case. */
  readonly scheme: string
  /** The parameters. Their names are in lower case. */
  readonly params: Map<string, string>
}

/** Returns the challenges of a header in their order. Skips invalid parts. */
export function parseChallenges(header: string | null): ParsedChallenge[] {
  const text = (header ?? '').slice(0, MAX_HEADER_LENGTH)
  const challenges: ParsedChallenge[] = []
  let position = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position
    const found = pattern.exec(text)
    if (found !== null) position = pattern.lastIndex
    return found
  }
  while (position < text.length) {
    const param = match(PARAM)
    if (param !== null) {
      const [, name = '', quoted, token = ''] = param
      const params = challenges.at(-1)?.params
      const key = name.toLowerCase()
      // If a parameter occurs several times, the first one is used.
      if (params?.has(key) === false) params.set(key, quoted?.replace(/\\([\s\S])/g, '$1') ?? token)
    } else {
      const scheme = match(SCHEME)
      if (scheme === null) position = nextComma(text, position)
      else challenges.push({ scheme: (scheme[1] ?? '').toLowerCase(), params: new Map() })
      // A scheme is followed by parameters or by one token68.
      if (scheme !== null && !startsParam(text, position)) match(TOKEN68)
    }
    if (text[position] === ',') position += 1
  }
  return challenges
}

function startsParam(text: string, position: number): boolean {
  PARAM.lastIndex = position
  return PARAM.test(text)
}

function nextComma(text: string, position: number): number {
  const comma = text.indexOf(',', position)
  return comma === -1 ? text.length : comma
}

/** The OAuth challenge of a server. */
export interface Challenge {
  readonly error: string | undefined
  readonly scope: readonly string[]
  readonly resourceMetadata: string | undefined
}

/** Reads the OAuth challenges of a response. Parameters of the preferred scheme have precedence. */
export function readChallenge(response: Response, preferred: 'bearer' | 'dpop'): Challenge {
  const challenges = parseChallenges(response.headers.get('www-authenticate'))
  const ours = challenges.filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop')
  ours.sort((a, b) => Number(b.scheme === preferred) - Number(a.scheme === preferred))
  const read = (name: string) => ours.map(({ params }) => params.get(name)).find((value) => value !== undefined)
  return { error: read('error'), scope: scopesOf(read('scope')), resourceMetadata: read('resource_metadata') }
}

/** Returns the valid scopes of a list or of a string with spaces, without duplicates. */
export function scopesOf(list: string | readonly string[] | undefined): string[] {
  const scopes = typeof list === 'string' ? list.split(/\s+/) : (list ?? [])
  return [...new Set(scopes.filter(isScope))]
}
