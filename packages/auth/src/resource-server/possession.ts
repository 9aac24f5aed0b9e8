/** Sees that a token which is bound to a key comes with a proof of that key: https://www.rfc-editor.org/rfc/rfc9449#section-7 */

import { PROOF_ALGORITHMS, type ProofError, tokenHash, verifyProof } from '../dpop-proof.ts'
import type { Claims } from './claims.ts'
import type { Credentials } from './credentials.ts'
import { createNonces, type NonceOptions, type Nonces } from './nonces.ts'
import { CredentialsError } from './refusal.ts'
import { createMemoryReplayStore, type ReplayStore } from './replay-store.ts'

export interface DpopOptions {
  /** Refuse tokens that are bound to no key. Default: false. */
  readonly required?: boolean | undefined
  /** The algorithms of proofs. Default: ES256, ES384, ES512, EdDSA, Ed25519, PS256, RS256. */
  readonly algorithms?: readonly string[] | undefined
  /** How far the `iat` of a proof may lie from now, in seconds. Default: 300. */
  readonly maxAge?: number | undefined
  /** Remembers the proofs that were used. Default: the memory of this process. */
  readonly replays?: ReplayStore | undefined
  /** Ask for a nonce of this server in each proof. Default: false. */
  readonly nonces?: NonceOptions | boolean | undefined
  /** The URL of a request as its client knows it. Default: its path on the origin of the audience. */
  readonly url?: ((request: Request) => string) | undefined
}

/** Whoever keeps proofs need not count time as this process does, in ms. */
const MARGIN = 1_000

export interface Possession {
  readonly required: boolean
  readonly algorithms: readonly string[]
  readonly nonces: Nonces | undefined
  check(credentials: Credentials, claims: Claims | undefined, request: Request): Promise<void>
}

/** Nothing when proofs are not understood; bound tokens are refused then. */
export function createPossession(options: DpopOptions | undefined, resource: URL): Possession | undefined {
  if (options === undefined) return undefined
  const { required = false, algorithms = PROOF_ALGORITHMS, maxAge = 300 } = options
  const { replays = createMemoryReplayStore(), nonces: asked = false } = options
  const nonces = asked === false ? undefined : createNonces(asked === true ? {} : asked)
  const urlOf = options.url ?? (({ url }) => resource.origin + new URL(url).pathname)
  return {
    required,
    algorithms,
    nonces,
    async check({ scheme, token }, claims, request) {
      const bound = boundKey(claims)
      if (scheme === 'Bearer') {
        if (bound !== undefined)
          throw new CredentialsError('bound', 'the token is bound to a key: send it with a proof')
        if (required) throw new CredentialsError('unbound', 'only tokens that are bound to a key are taken')
        return
      }
      if (bound === undefined) throw new CredentialsError('unbound', 'the token is bound to no key: send it as Bearer')
      const expected = { method: request.method, url: urlOf(request), accessToken: token, algorithms, maxAge }
      const proof = await verifyProof(request.headers.get('dpop'), expected).catch(refuse)
      if (proof.jkt !== bound) throw new CredentialsError('other_key', 'the token is bound to another key')
      if (nonces !== undefined && !(await nonces.accepts(proof.nonce))) {
        throw new CredentialsError('proof_nonce', 'the proof must hold the nonce that this response brings')
      }
      // At last: only who holds a good token may fill the memory, and with nothing for longer than it is good.
      const end = (proof.iat + maxAge) * 1000
      await useOnce(replays, `${proof.jkt} ${proof.jti}`, Math.max(end - Date.now(), 0) + MARGIN)
    },
  }
}

/** The key a token is bound to. A binding that is not understood is not ignored. */
export function boundKey(claims: Claims | undefined): string | undefined {
  const confirmation = claims?.cnf
  if (confirmation === undefined) return undefined
  const { jkt, ...others } = typeof confirmation === 'object' && confirmation !== null ? (confirmation as Claims) : {}
  if (typeof jkt !== 'string' || Object.keys(others).length > 0) {
    throw new CredentialsError('bound', 'the token is bound in a way that is not understood here')
  }
  return jkt
}

async function useOnce(replays: ReplayStore, id: string, ttl: number): Promise<void> {
  let isNew: boolean
  try {
    isNew = await replays.add(await tokenHash(id), ttl)
  } catch (cause) {
    throw new CredentialsError('unavailable', 'proofs cannot be checked just now', { cause })
  }
  if (!isNew) throw new CredentialsError('proof_replayed', 'the proof was used before')
}

function refuse(error: ProofError): never {
  throw new CredentialsError(error.reason, error.message)
}
