/** Reads what a `WWW-Authenticate` header asks for (RFC 9110, section 11.6.1). */

export interface Challenge {
  /** In lowercase. */
  readonly scheme: string
  /** By name in lowercase. */
  readonly params: ReadonlyMap<string, string>
}

/** The longest header that is read, in characters. What follows is not looked at. */
const LONGEST_HEADER = 16_384

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
/** A parameter `name = value`, where the value is a token or quoted. */
const PARAM = new RegExp(`\\s*(${TOKEN})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\[\\s\\S])*)"|(${TOKEN}))\\s*(?=,|$)`, 'y')
/** A scheme, alone or before its parameters. */
const SCHEME = new RegExp(`\\s*(${TOKEN})(?:\\s+|(?=\\s*(?:,|$)))`, 'y')
/** What some schemes have in place of parameters. */
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*\s*(?=,|$)/y

/** All challenges of a header, in their order. What is no challenge is passed over. */
export function parseChallenges(header: string | null): Challenge[] {
  const text = (header ?? '').slice(0, LONGEST_HEADER)
  const challenges: { scheme: string; params: Map<string, string> }[] = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match !== null) at = pattern.lastIndex
    return match
  }
  while (at < text.length) {
    const param = take(PARAM)
    if (param !== null) {
      const [, name = '', quoted, token] = param
      const params = challenges.at(-1)?.params
      // Of a name that is given twice, the first is meant.
      if (params?.has(name.toLowerCase()) === false) params.set(name.toLowerCase(), unquote(quoted) ?? token ?? '')
    } else {
      const scheme = take(SCHEME)
      if (scheme === null) at = nextComma(text, at)
      else challenges.push({ scheme: (scheme[1] ?? '').toLowerCase(), params: new Map() })
      // A parameter may follow; anything else after a scheme is its token68.
      if (scheme !== null && !startsParam(text, at)) take(TOKEN68)
    }
    if (text[at] === ',') at += 1
  }
  return challenges
}

function startsParam(text: string, at: number): boolean {
  PARAM.lastIndex = at
  return PARAM.test(text)
}

function nextComma(text: string, at: number): number {
  const comma = text.indexOf(',', at)
  return comma === -1 ? text.length : comma
}

function unquote(quoted: string | undefined): string | undefined {
  return quoted?.replace(/\\([\s\S])/g, '$1')
}

/** What the challenge says that speaks of OAuth; one of the scheme that is wanted goes first. */
export interface Demand {
  readonly error: string | undefined
  readonly scope: readonly string[]
  readonly resourceMetadata: string | undefined
}

export function demandOf(response: Response, wanted: 'bearer' | 'dpop'): Demand {
  const all = parseChallenges(response.headers.get('www-authenticate'))
  const ours = all.filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop')
  ours.sort((a, b) => Number(b.scheme === wanted) - Number(a.scheme === wanted))
  const say = (name: string) => ours.map(({ params }) => params.get(name)).find((value) => value !== undefined)
  return { error: say('error'), scope: scopesOf(say('scope')), resourceMetadata: say('resource_metadata') }
}

/** The scopes of a list that is separated by spaces, each once. */
export function scopesOf(list: string | readonly string[] | undefined): string[] {
  const scopes = typeof list === 'string' ? list.split(/\s+/) : (list ?? [])
  return [...new Set(scopes.filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)))]
}
