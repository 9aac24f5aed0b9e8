/** Nonces that nobody has to remember: each is signed, and says itself when it ends. */

import { jwtVerify, SignJWT } from 'jose'

export interface NonceOptions {
  /**
   * Signs the nonces; at least 32 characters. Processes that serve the same endpoint share it. Default: a random one for
   * this process.
   */
  readonly secret?: string | undefined
  /** How long a nonce may be used, in seconds. Default: 300. */
  readonly ttl?: number | undefined
}

export interface Nonces {
  issue(): Promise<string>
  accepts(nonce: string | undefined): Promise<boolean>
}

const TYPE = 'dpop-nonce'
const MIN_SECRET = 32

export function createNonces({ secret, ttl = 300 }: NonceOptions): Nonces {
  if (secret !== undefined && secret.length < MIN_SECRET) {
    throw new RangeError(`dpop.nonces.secret: expected at least ${MIN_SECRET} characters`)
  }
  let made: Uint8Array | undefined
  // Drawn when it is first needed: some runtimes have no randomness while they load modules.
  const key = () => {
    made ??=
      secret === undefined ? crypto.getRandomValues(new Uint8Array(MIN_SECRET)) : new TextEncoder().encode(secret)
    return made
  }
  return {
    issue: () =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'HS256', typ: TYPE })
        .setExpirationTime(Math.floor(Date.now() / 1000) + ttl)
        .sign(key()),
    async accepts(nonce) {
      if (nonce === undefined) return false
      const options = { algorithms: ['HS256'], typ: TYPE, requiredClaims: ['exp'] }
      return jwtVerify(nonce, key(), options).then(
        () => true,
        () => false,
      )
    },
  }
}
