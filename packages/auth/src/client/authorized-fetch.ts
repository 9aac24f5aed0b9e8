/** Sends requests with a token, and deals with a server that wants another one: a bounded number of times. */

import { type Demand, demandOf } from './challenge.ts'
import { failure, quote } from './failure.ts'
import type { AuthTarget, Fetch } from './fetch.ts'
import type { Tokens } from './records.ts'
import type { Renewed } from './renewal.ts'
import type { Caller, Session } from './session.ts'
import { createStepUps, type StepUps } from './step-ups.ts'

/** What one request has been through. */
interface Tries {
  nonces: number
  refusals: number
  /** How often more rights were asked for. */
  stepUps: number
  /** How the token was got that is in use. */
  by: Renewed['by']
  /** The scopes that were asked for on the way. */
  readonly steps: Set<string>
}

/** How often one request may be sent again for a nonce, and for a token that was refused. */
const MOST_NONCES = 2
const MOST_REFUSALS = 4

export function createAuthorizedFetch(
  fetch: Fetch,
  session: Session,
  { url: server, hold }: AuthTarget,
  maxStepUps: number,
): Fetch {
  const stepUps = createStepUps(maxStepUps)

  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    refuseElsewhere(url, server)
    const caller: Caller = { fetch, signal: init.signal ?? (input instanceof Request ? input.signal : undefined) }
    const tries: Tries = { nonces: 0, refusals: 0, stepUps: 0, by: 'kept', steps: new Set() }
    const kept = session.current(caller)
    let tokens = kept instanceof Promise ? await unhurried(() => kept, caller, hold) : kept
    const method = (init.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase()
    for (;;) {
      const response = await send(fetch, session, tokens, input, { ...init, method }, url)
      const demand = isRefusal(response) ? demandOf(response, session.prover ? 'dpop' : 'bearer') : undefined
      const next = demand && nextStep(response, demand, tokens, { session, stepUps, maxStepUps, tries, url, method })
      if (next === undefined) {
        if (response.ok) for (const step of tries.steps) stepUps.succeeded(step)
        return response
      }
      await response.body?.cancel().catch(() => {})
      if (next !== 'again') {
        const refused = tokens
        const renewed = await unhurried(() => session.renew(caller, refused, next), caller, hold)
        tokens = renewed.tokens
        tries.by = renewed.by
      }
      if (init.body instanceof ReadableStream) throw unrepeatable(url)
    }
  }
}

/** Asking a user takes as long as it takes. */
async function unhurried<T>(work: () => Promise<T>, { signal }: Caller, hold: AuthTarget['hold']): Promise<T> {
  const go = signal ? hold?.(signal) : undefined
  try {
    return await work()
  } finally {
    go?.()
  }
}

async function send(
  fetch: Fetch,
  { prover }: Session,
  tokens: Tokens | undefined,
  input: string | URL | Request,
  init: RequestInit & { readonly method: string },
  url: URL,
): Promise<Response> {
  const from = input instanceof Request ? input.clone() : input
  if (tokens === undefined) return fetch(from, init)
  const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined))
  headers.set('authorization', `${tokens.tokenType} ${tokens.accessToken}`)
  if (prover !== undefined) {
    headers.set('dpop', await prover.proof(init.method, url, tokens.accessToken))
  }
  return fetch(from, { ...init, headers })
}

interface Situation {
  readonly session: Session
  readonly stepUps: StepUps
  readonly maxStepUps: number
  readonly tries: Tries
  readonly url: URL
  readonly method: string
}

function isRefusal({ status }: Response): boolean {
  return status === 401 || status === 403
}

/** What to do about a refusal: nothing, send the request again, or get tokens that are good for more. */
function nextStep(response: Response, demand: Demand, tokens: Tokens | undefined, situation: Situation) {
  const { session, tries, url, method } = situation
  const isNew = session.prover?.learn(url, response.headers) === true
  if (demand.error === 'use_dpop_nonce' && isNew && tries.nonces < MOST_NONCES) {
    tries.nonces += 1
    return 'again'
  }
  // What is only a goodbye is worth no login.
  if (method === 'DELETE') return undefined
  if (response.status === 401) return afterUnauthorized(demand, tokens, situation)
  return demand.error === 'insufficient_scope' && demand.scope.length > 0
    ? afterForbidden(demand, tokens, situation)
    : undefined
}

function afterUnauthorized(demand: Demand, tokens: Tokens | undefined, { session, tries, url }: Situation) {
  tries.refusals += 1
  const { scope, resourceMetadata } = demand
  if (tokens === undefined) {
    if (tries.refusals <= MOST_REFUSALS) return { scope, resourceMetadata, fromTheBeginning: false }
  } else if (tries.by !== 'flow' && tries.refusals <= MOST_REFUSALS) {
    return { scope, resourceMetadata, fromTheBeginning: tries.by === 'refresh' }
  }
  const said = demand.error === undefined ? '' : ` (${quote(demand.error)})`
  const hint = 'The server and its authorization server do not agree on whom tokens are for, or who makes them.'
  const error = failure('verification', `The server refuses a token that it has just asked for${said}`, { url, hint })
  session.rest(error)
  throw error
}

function afterForbidden(demand: Demand, tokens: Tokens | undefined, situation: Situation) {
  const { stepUps, maxStepUps, tries, url } = situation
  const { scope, resourceMetadata } = demand
  const step = [...scope].sort().join(' ')
  const granted = tokens?.scope ?? []
  const has = tokens !== undefined && scope.every((each) => granted.includes(each))
  if (has || !stepUps.mayTry(step)) {
    const why = has ? 'and says of a token that has it that it does not' : 'and did not get it when it was asked for'
    const hint = 'Whoever is logged in may not do this, or the server asks for what is never granted.'
    throw failure('authorization', `The server wants the scope ${quote(step)}, ${why}`, { url, hint })
  }
  if (tries.stepUps >= maxStepUps) {
    const hint = 'It named others than those that it had asked for before. Nobody is asked again for this request.'
    throw failure('authorization', `The server wants more scopes each time, now ${quote(step)}`, { url, hint })
  }
  tries.stepUps += 1
  stepUps.tried(step)
  tries.steps.add(step)
  return { scope, resourceMetadata, stepUp: true, fromTheBeginning: true }
}

function refuseElsewhere(url: URL, server: URL): void {
  if (url.origin === server.origin) return
  const hint = 'Wrap another fetch for another server.'
  throw failure('verification', `Tokens for ${server.origin} are sent nowhere else`, { url, hint })
}

function unrepeatable(url: URL) {
  const hint = 'Send it again: by now there may be a token. Or pass a text or bytes as the body.'
  return failure('verification', 'A token is needed, and a request with a stream cannot be sent twice', { url, hint })
}
