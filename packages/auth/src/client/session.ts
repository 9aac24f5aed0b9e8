/** The tokens of one server: kept, and renewed once for all who wait. */

import type { AuthError } from '../auth-error.ts'
import type { Prover } from './dpop.ts'
import type { Fetch } from './fetch.ts'
import { type Flight, startFlight } from './flight.ts'
import { createRecords, type Records, type Tokens } from './records.ts'
import { type Need, type RenewalOptions, type Renewed, renewTokens, suits } from './renewal.ts'
import { endTokens } from './sign-out.ts'
import { isDue } from './tokens.ts'

export interface Caller {
  readonly fetch: Fetch
  readonly signal: AbortSignal | null | undefined
}

export interface Session extends Pick<Renewals, 'rest' | 'revive'> {
  readonly prover: Prover | undefined
  /** The tokens to begin with, renewed if they are about to expire; nothing where there are none. */
  current(caller: Caller): Tokens | undefined | Promise<Tokens | undefined>
  /** Others in place of those that were refused. */
  renew(caller: Caller, refused: Tokens | undefined, need: Need): Promise<Renewed>
  /** Forgets the tokens, and revokes them where that can be done. */
  end(fetch: Fetch): Promise<void>
}

interface Renewals {
  /** Nothing where only a refreshed token would do and none is to be had. */
  renew(caller: Caller, refused: Tokens | undefined, need: Need): Promise<Renewed | undefined>
  /** Nothing is tried again for a while. */
  rest(error: AuthError): void
  /** Whoever connects anew wants to try again. */
  revive(): void
}

/** How long a user who said no, or whose login did not help, is not asked again, in ms. */
const REST = 30_000

export function createSession(options: RenewalOptions): Session {
  const { url, store, flow, prover } = options
  const records = createRecords(store, url, flow.kind, prover === undefined ? 'Bearer' : 'DPoP')
  let known: Tokens | undefined
  let loaded = false
  const { renew, rest, revive } = createRenewals(options, records, (tokens) => {
    known = tokens
  })

  async function load(caller: Caller): Promise<Tokens | undefined> {
    if (!loaded) known ??= await records.tokens()
    loaded = true
    const due = known
    if (due === undefined || !isDue(due)) return due
    // Where a user would be asked, the server is asked first: its challenge says what it wants by now.
    if (flow.interactive && due.refreshToken === undefined) return undefined
    try {
      const need = { scope: due.requested, refreshOnly: flow.interactive }
      return (await renew(caller, due, need))?.tokens
    } catch (error) {
      if (due.expiresAt !== undefined && Date.now() < due.expiresAt && caller.signal?.aborted !== true) return due
      throw error
    }
  }

  return {
    prover,
    current: (caller) => (known !== undefined && !isDue(known) ? known : load(caller)),
    // What is not only refreshed ends in tokens, or rejects.
    renew: renew as Session['renew'],
    async end(fetch) {
      const work = async () => {
        const ending = endTokens(options, records, fetch)
        return ending.finally(() => {
          known = undefined
          loaded = false
        })
      }
      await (store.lock?.(records.lockKey, work) ?? work())
    },
    rest,
    revive,
  }
}

function createRenewals(
  options: RenewalOptions,
  records: Records,
  onRenewed: (tokens: Tokens | undefined) => void,
): Renewals {
  const { store, flow } = options
  let flight: Flight<Renewed | undefined> | undefined
  let resting: { readonly error: AuthError; readonly until: number } | undefined

  function rest(error: AuthError): void {
    resting = { error, until: Date.now() + REST }
  }

  async function run(fetch: Fetch, refused: Tokens | undefined, need: Need, signal: AbortSignal) {
    const work = () => renewTokens(options, records, { fetch, refused, need, signal })
    try {
      const renewed = await (store.lock?.(records.lockKey, work) ?? work())
      onRenewed(renewed?.tokens)
      return renewed
    } catch (error) {
      const { step } = error as Partial<AuthError>
      const isFinal = step === 'authorization' || step === 'token'
      if (flow.interactive && isFinal && !signal.aborted) rest(error as AuthError)
      throw error
    }
  }

  function launch(fetch: Fetch, refused: Tokens | undefined, need: Need): Flight<Renewed | undefined> {
    const land = () => {
      if (flight === mine) flight = undefined
    }
    const mine: Flight<Renewed | undefined> = startFlight((signal) => {
      // Nobody shall join what is being given up.
      signal.addEventListener('abort', land)
      return run(fetch, refused, need, signal).finally(land)
    })
    return mine
  }

  return {
    async renew(caller, refused, need) {
      while (flight !== undefined) {
        const renewed = await flight.join(caller.signal)
        if (renewed !== undefined && suits(renewed.tokens, refused, need)) return renewed
      }
      if (resting !== undefined && Date.now() < resting.until) throw resting.error
      flight = launch(caller.fetch, refused, need)
      return flight.join(caller.signal)
    },
    rest,
    revive() {
      resting = undefined
    },
  }
}
