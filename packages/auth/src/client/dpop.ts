/** Proofs of possession of a key (RFC 9449), for requests to the authorization server and to the MCP server. */

import { isObject } from '@mcpx/protocol'
import { exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import {
  allowInsecureRequests,
  type CryptoKey,
  customFetch,
  DPoP,
  type DPoPHandle,
  modifyAssertion,
  protectedResourceRequest,
} from 'oauth4webapi'
import { AuthError } from '../auth-error.ts'
import { type AuthStore, withLock } from './store.ts'

/** Options of proofs. */
export interface DpopOptions {
  /** The algorithm of signatures. Default: `ES256`. */
  readonly algorithm?: 'ES256' | 'ES384' | 'ES512' | 'EdDSA' | 'PS256' | 'RS256' | undefined
}

/** The longest nonce, in characters. A nonce must fit into a header. */
const MAX_NONCE_LENGTH = 1_024

/** Returns the nonce of a response. A nonce that is too long is ignored. */
export function nonceOf({ headers }: Response): string | undefined {
  const nonce = headers.get('dpop-nonce')
  return nonce === null || nonce === '' || nonce.length > MAX_NONCE_LENGTH ? undefined : nonce
}

/**
 * Returns a response with only the header `dpop-nonce`, because the library would parse challenges of any length.
 */
export function withNonceOnly(response: Response): Response {
  return new Response(null, { headers: { 'dpop-nonce': nonceOf(response) ?? '' } })
}

/** The key of one client. It is stored beside the tokens that are bound to it. */
export class DpopKey {
  readonly #algorithm: string
  readonly #store: AuthStore
  readonly #name: string
  #handle: Promise<DPoPHandle> | undefined

  /** @param name the key of the record in the store */
  constructor({ algorithm = 'ES256' }: DpopOptions, store: AuthStore, name: string) {
    this.#algorithm = algorithm
    this.#store = store
    this.#name = name
  }

  /**
   * Returns the object that signs the proofs and stores the nonces of servers. The first call loads the
   * key from the store, or creates it.
   */
  handle(): Promise<DPoPHandle> {
    this.#handle ??= this.#createHandle().catch((error) => {
      this.#handle = undefined
      throw error
    })
    return this.#handle
  }

  /**
   * Sends a request with a proof to the MCP server.
   *
   * @param send sends the request with the headers `authorization` and `dpop`
   */
  async sendBound(
    accessToken: string,
    method: string,
    url: URL,
    send: (headers: Readonly<Record<string, string>>) => Promise<Response>,
  ): Promise<Response> {
    let response = new Response()
    await protectedResourceRequest(accessToken, method, url, undefined, undefined, {
      DPoP: await this.handle(),
      [allowInsecureRequests]: true,
      [customFetch]: async (_, { headers: { authorization = '', dpop = '' } }) => {
        response = await send({ authorization, dpop })
        return withNonceOnly(response)
      },
    })
    return response
  }

  async #createHandle(): Promise<DPoPHandle> {
    const algorithm = this.#algorithm
    const readOrCreate = async () => (await this.#read()) ?? this.#create()
    const jwk = (await this.#read()) ?? (await withLock(this.#store, this.#name, readOrCreate))
    const { kty, crv, x, y, n, e } = jwk
    try {
      const privateKey = (await importJWK(jwk, algorithm)) as CryptoKey
      const publicKey = (await importJWK({ kty, crv, x, y, n, e } as JWK, algorithm)) as CryptoKey
      const modify = (header: Record<string, unknown>) => {
        header.alg = algorithm
      }
      return DPoP({}, { privateKey, publicKey }, { [modifyAssertion]: modify })
    } catch (cause) {
      const hint = 'Delete it from the store and log in again: tokens that are bound to it cannot be used.'
      throw new AuthError(`The DPoP key ${this.#name} cannot be used`, { step: 'storage', hint, cause })
    }
  }

  async #read(): Promise<JWK | undefined> {
    const record = await this.#store.get(this.#name)
    if (!isObject(record) || record.algorithm !== this.#algorithm || !isObject(record.jwk)) return undefined
    return record.jwk as JWK
  }

  async #create(): Promise<JWK> {
    const { privateKey } = await generateKeyPair(this.#algorithm, { extractable: true })
    const jwk = await exportJWK(privateKey)
    await this.#store.set(this.#name, { algorithm: this.#algorithm, jwk })
    return jwk
  }
}
