/**
 * Sends requests with a token. If the server refuses the token, gets another token and repeats the request, a limited
 * number of times.
 */

import { AuthError, printable } from '../auth-error.ts'
import type { Fetch } from '../bounded-fetch.ts'
import { type Challenge, readChallenge } from './challenge.ts'
import type { AuthTarget } from './create-login.ts'
import { type DpopKey, nonceOf } from './dpop.ts'
import type { Renewed, TokenNeed } from './renewal.ts'
import type { Caller, TokenCache } from './token-cache.ts'
import { includesAll, type Tokens } from './token-records.ts'

/** How often one request is repeated with a new nonce, and how often after a refused token. */
const MAX_NONCES = 2
const MAX_REFUSALS = 4

/** The state of one request. */
interface Attempt {
  readonly url: URL
  readonly method: string
  tokens: Tokens | undefined
  /** The source of the tokens. */
  source: Renewed['source']
  nonces: number
  refusals: number
  /** The sets of scopes that were requested in step-ups. */
  readonly stepUps: string[]
}

export function createAuthorizedFetch(
  fetch: Fetch,
  cache: TokenCache,
  { url: serverUrl, hold }: AuthTarget,
  maxStepUps: number,
): Fetch {
  const handler = new ChallengeHandler(cache, maxStepUps)

  return async (input, init = {}) => {
    const request = input instanceof Request ? input : undefined
    const url = new URL(request?.url ?? (input as string | URL))
    refuseOtherOrigin(url, serverUrl)
    const caller: Caller = { fetch, signal: init.signal ?? request?.signal }
    const method = (init.method ?? request?.method ?? 'GET').toUpperCase()
    const tokens = cache.current() ?? (await withoutClock(caller, hold, () => cache.load(caller)))
    const attempt: Attempt = { url, method, tokens, source: 'store', nonces: 0, refusals: 0, stepUps: [] }
    for (;;) {
      const response = await send(fetch, cache.settings.dpop, attempt, input, { ...init, method })
      const next = handler.next(response, attempt)
      if (next === 'done') return response
      await response.body?.cancel().catch(() => {})
      if (next !== 'repeat') {
        const renewed = await withoutClock(caller, hold, () => cache.renew(caller, attempt.tokens, next))
        Object.assign(attempt, renewed)
      }
      if (init.body instanceof ReadableStream) throw notRepeatable(url)
    }
  }
}

function refuseOtherOrigin(url: URL, serverUrl: URL): void {
  if (url.origin === serverUrl.origin) return
  const message = `Tokens for ${serverUrl.origin} are not sent to other origins`
  throw new AuthError(message, { step: 'verification', url, hint: 'Wrap another fetch for another server.' })
}

function notRepeatable(url: URL): AuthError {
  const message = 'A token is needed, and a request with a stream cannot be repeated'
  const hint = 'Send it again, now with a token. Or pass a string or bytes as the body.'
  return new AuthError(message, { step: 'verification', url, hint })
}

/** Runs a login while the timeout of the request is paused, because a login may take longer. */
async function withoutClock<T>({ signal }: Caller, hold: AuthTarget['hold'], work: () => Promise<T>): Promise<T> {
  const restart = signal ? hold?.(signal) : undefined
  try {
    return await work()
  } finally {
    restart?.()
  }
}

async function send(
  fetch: Fetch,
  dpop: DpopKey | undefined,
  { tokens, method, url }: Attempt,
  input: string | URL | Request,
  init: RequestInit,
): Promise<Response> {
  const copy = input instanceof Request ? input.clone() : input
  if (tokens === undefined) return fetch(copy, init)
  const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined))
  if (dpop === undefined) {
    headers.set('authorization', `Bearer ${tokens.accessToken}`)
    return fetch(copy, { ...init, headers })
  }
  return dpop.sendBound(tokens.accessToken, method, url, (signed) => {
    for (const [name, value] of Object.entries(signed)) headers.set(name, value)
    return fetch(copy, { ...init, headers })
  })
}

/**
 * The largest number of sets of scopes that are requested. Without this limit, a server could make the client request
 * new scopes forever.
 */
const MAX_SCOPE_SETS = 100

/** Decides what to do after a response: nothing, send the same request again, or obtain other tokens. */
class ChallengeHandler {
  readonly #cache: TokenCache
  readonly #maxStepUps: number
  /** How often each set of scopes was requested without success. */
  readonly #failedStepUps = new Map<string, number>()

  constructor(cache: TokenCache, maxStepUps: number) {
    this.#cache = cache
    this.#maxStepUps = maxStepUps
  }

  next(response: Response, attempt: Attempt): TokenNeed | 'repeat' | 'done' {
    const { status, ok } = response
    if (ok) for (const scopes of attempt.stepUps) this.#failedStepUps.delete(scopes)
    if (status !== 401 && status !== 403) return 'done'
    const challenge = readChallenge(response, this.#cache.settings.dpop ? 'dpop' : 'bearer')
    const wantsNonce = challenge.error === 'use_dpop_nonce' && nonceOf(response) !== undefined
    if (wantsNonce && attempt.tokens?.tokenType === 'DPoP' && attempt.nonces < MAX_NONCES) {
      attempt.nonces += 1
      return 'repeat'
    }
    // Do not start a login to end a session.
    if (attempt.method === 'DELETE') return 'done'
    if (status === 401) return this.#afterUnauthorized(challenge, attempt)
    const lacksScopes = challenge.error === 'insufficient_scope' && challenge.scope.length > 0
    return lacksScopes ? this.#afterForbidden(challenge, attempt) : 'done'
  }

  #afterUnauthorized({ scope, resourceMetadata, error: code }: Challenge, attempt: Attempt): TokenNeed {
    const { tokens, source, url } = attempt
    attempt.refusals += 1
    if (attempt.refusals <= MAX_REFUSALS) {
      if (tokens === undefined) return { scope, resourceMetadata }
      if (source !== 'login') return { scope, resourceMetadata, loginOnly: source === 'refresh' }
    }
    const reason = code === undefined ? '' : ` (${printable(code)})`
    const hint = 'The server and its authorization server disagree on the issuer or the audience of tokens.'
    const message = `The server refuses a token that was just issued${reason}`
    const error = new AuthError(message, { step: 'verification', url, hint })
    this.#cache.pause(error)
    throw error
  }

  #afterForbidden({ scope, resourceMetadata }: Challenge, { tokens, stepUps, url }: Attempt): TokenNeed {
    const scopes = [...scope].sort().join(' ')
    const failed = this.#failedStepUps.get(scopes)
    const isLimited = failed === undefined ? this.#failedStepUps.size >= MAX_SCOPE_SETS : failed >= this.#maxStepUps
    const wasGranted = tokens !== undefined && includesAll(tokens.scope, scope)
    if (wasGranted || isLimited) {
      const reason = wasGranted ? 'although the token has it' : 'and it was requested without success'
      const message = `The server requires the scope ${printable(scopes)}, ${reason}`
      const hint = 'The user may lack the permission, or the authorization server never grants the scope.'
      throw new AuthError(message, { step: 'authorization', url, hint })
    }
    if (stepUps.length >= this.#maxStepUps) {
      const message = `The server requires other scopes each time, now ${printable(scopes)}`
      const hint = 'The user is not asked again for this request.'
      throw new AuthError(message, { step: 'authorization', url, hint })
    }
    stepUps.push(scopes)
    this.#failedStepUps.set(scopes, (failed ?? 0) + 1)
    return { scope, resourceMetadata, stepUp: true, loginOnly: true }
  }
}
