/** Asks a token endpoint, and believes only an answer that is one (RFC 6749, section 5). */

import type { AuthError, AuthStep } from '../auth-error.ts'
import { authenticate, type Client } from './client-authentication.ts'
import type { Prover } from './dpop.ts'
import { failure, quote, redact } from './failure.ts'
import { isObject, type JsonResponse } from './json-request.ts'
import type { Link } from './link.ts'
import type { ServerMetadata } from './server-metadata.ts'

export interface TokenRequest {
  readonly step: AuthStep & ('token' | 'refresh')
  readonly server: Pick<ServerMetadata, 'issuer' | 'tokenEndpoint' | 'tokenEndpointAuthMethods'>
  readonly client: Client
  /** Absent values are not sent. */
  readonly params: Readonly<Record<string, string | undefined>>
  readonly prover?: Prover | undefined
}

/** What a token endpoint gave. */
export interface Grant {
  readonly accessToken: string
  /** As the answer says, which need not be how the token is shown. */
  readonly tokenType: string
  /** In ms since 1970; nothing where the server does not say. */
  readonly expiresAt?: number | undefined
  /** In ms, where it is known. */
  readonly lifetime?: number | undefined
  readonly refreshToken?: string | undefined
  /** Nothing where it is what was asked for. */
  readonly scope?: string | undefined
  readonly issuedTokenType?: string | undefined
}

/** A refusal that says why. */
export interface Refusal {
  /** Such as `invalid_grant`. */
  readonly code: string
  readonly error: AuthError
}

export async function requestToken(link: Link, request: TokenRequest): Promise<Grant> {
  const answer = await askForToken(link, request)
  if ('error' in answer) throw answer.error
  return answer
}

/** Rejects only where the answer is none. */
export async function askForToken(link: Link, request: TokenRequest): Promise<Grant | Refusal> {
  const { step, prover, server } = request
  const url = server.tokenEndpoint
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(request.params)) if (value !== undefined) params.set(name, value)
  for (let attempt = 0; ; attempt++) {
    // An assertion may be used once, as a proof may.
    const { headers, params: proving } = await authenticate(request.client, server)
    for (const [name, value] of Object.entries(proving)) params.set(name, value)
    const response = await link.request({
      step,
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
        ...(prover && { dpop: await prover.proof('POST', url) }),
      },
      body: params.toString(),
    })
    const isNew = prover?.learn(url, response.headers) === true
    const answer = readAnswer(step, url, response, params, request.client)
    const again = 'error' in answer && answer.code === 'use_dpop_nonce' && isNew && attempt < MOST_NONCES
    if (!again) return answer
  }
}

/** How many nonces one request may be sent again for. */
const MOST_NONCES = 2

function readAnswer(
  step: AuthStep,
  url: URL,
  { status, body }: JsonResponse,
  params: URLSearchParams,
  client: Client,
): Grant | Refusal {
  if (isObject(body) && status >= 400 && typeof body.error === 'string') {
    return refusalOf(step, url, body, [...params.values(), client.secret ?? ''])
  }
  if (status !== 200 && status !== 201) {
    const hint = 'See that the authorization server runs, and what it logs.'
    throw failure(step, `The token request was refused with HTTP status ${status}, and no error said why`, {
      url,
      hint,
    })
  }
  if (!isObject(body)) throw unreadable(step, url, 'is no JSON object')
  return readGrant(step, url, body)
}

const hints: Readonly<Record<string, string>> = {
  invalid_client: 'See that the client id and its secret or key belong to this authorization server.',
  invalid_grant: 'The code, token or assertion was used, has expired, or is for somebody else: begin anew.',
  invalid_scope: 'Ask for other scopes.',
  invalid_target: 'The authorization server does not know this resource.',
  unauthorized_client: 'The client is not registered for this grant.',
  unsupported_grant_type: 'The authorization server does not offer this grant.',
}

function refusalOf(step: AuthStep, url: URL, body: Readonly<Record<string, unknown>>, secrets: string[]): Refusal {
  const code = quote(body.error)
  const description = body.error_description
  const said = typeof description === 'string' ? `: ${quote(redact(description, secrets))}` : ''
  const message = `The authorization server refused: ${redact(code, secrets)}${said}`
  return { code, error: failure(step, message, { url, hint: hints[code] }) }
}

/** The longest token that is taken, in characters: it has to fit into a header. */
const LONGEST_TOKEN = 65_536

function readGrant(step: AuthStep, url: URL, body: Readonly<Record<string, unknown>>): Grant {
  const { access_token: token, token_type: type, refresh_token: refresh, scope } = body
  if (typeof token !== 'string' || token.length > LONGEST_TOKEN || !/^[\x21-\x7e]+$/.test(token)) {
    throw unreadable(step, url, 'holds no access_token that fits into a header')
  }
  if (typeof type !== 'string') throw unreadable(step, url, 'holds no token_type')
  if (refresh !== undefined && refresh !== null && typeof refresh !== 'string') {
    throw unreadable(step, url, 'holds a refresh_token that is no text')
  }
  const lifetime = lifetimeOf(body.expires_in)
  const issued = body.issued_token_type
  return {
    accessToken: token,
    tokenType: type,
    ...(lifetime !== undefined && { lifetime, expiresAt: Date.now() + lifetime }),
    ...(typeof refresh === 'string' && refresh !== '' && { refreshToken: refresh }),
    ...(typeof scope === 'string' && { scope }),
    ...(typeof issued === 'string' && { issuedTokenType: issued }),
  }
}

/** In seconds: ten years. What says more would be more than JSON can keep. */
const LONGEST_LIFE = 315_360_000

/** In ms. Some servers write the number as a text. */
function lifetimeOf(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof seconds !== 'number' || !(seconds >= 0)) return undefined
  return Math.min(seconds, LONGEST_LIFE) * 1_000
}

function unreadable(step: AuthStep, url: URL, what: string): AuthError {
  const hint = 'See that the token endpoint is one of OAuth 2.1.'
  return failure(step, `The answer of the token endpoint ${what}`, { url, hint })
}
