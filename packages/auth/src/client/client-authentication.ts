/** How a client shows at the token endpoint that it is who it says. */

// Not the global type of that name: with Node's types alone there is none.
import type { CryptoKey } from 'jose'
import { failure, quote } from './failure.ts'
import { randomText } from './random-text.ts'
import type { ServerMetadata } from './server-metadata.ts'

export type SecretMethod = 'client_secret_basic' | 'client_secret_post' | 'none'

/** A private key: of WebCrypto, as a JWK, or as PEM (PKCS #8). */
export type PrivateKey = CryptoKey | string | Readonly<Record<string, unknown>>

export interface AssertionKey {
  readonly privateKey: PrivateKey
  /** What assertions are signed with. Default: what the JWK says, or `ES256`. */
  readonly algorithm?: string | undefined
  /** Who assertions are for. Default: the issuer of the authorization server; some still want the `token_endpoint`. */
  readonly audience?: 'issuer' | 'token_endpoint' | undefined
}

/** Who a client is at one authorization server. */
export interface Client {
  readonly id: string
  readonly secret?: string | undefined
  /** Default: what the server supports, a header before the body. */
  readonly method?: SecretMethod | undefined
  readonly key?: AssertionKey | undefined
  /** The id is not sent but where the method needs it. */
  readonly anonymous?: boolean | undefined
}

export interface Authenticated {
  readonly headers: Readonly<Record<string, string>>
  readonly params: Readonly<Record<string, string>>
}

type Server = Pick<ServerMetadata, 'issuer' | 'tokenEndpoint' | 'tokenEndpointAuthMethods'>

/** What proves who the client is, for one request. */
export async function authenticate(client: Client, server: Server): Promise<Authenticated> {
  const { id, secret, key } = client
  if (key !== undefined) return { headers: {}, params: await assertionOf(id, key, server) }
  const method = secret === undefined ? 'none' : (client.method ?? methodOf(server))
  if (method === 'none' || secret === undefined) {
    return { headers: {}, params: client.anonymous === true ? {} : { client_id: id } }
  }
  if (method === 'client_secret_post') return { headers: {}, params: { client_id: id, client_secret: secret } }
  const credentials = new TextEncoder().encode(`${formEncoded(id)}:${formEncoded(secret)}`)
  return { headers: { authorization: `Basic ${btoa(String.fromCharCode(...credentials))}` }, params: {} }
}

function methodOf({ tokenEndpointAuthMethods: supported, tokenEndpoint: url }: Server): SecretMethod {
  // A server that does not say takes the header (RFC 8414, section 2).
  if (supported === undefined || supported.includes('client_secret_basic')) return 'client_secret_basic'
  if (supported.includes('client_secret_post')) return 'client_secret_post'
  if (supported.includes('none')) return 'none'
  const message = `The server wants clients to authenticate by ${quote(supported.slice(0, 5).join(', '))}, and there is a secret`
  throw failure('token', message, { url, hint: 'Pass a privateKey instead, where it says private_key_jwt.' })
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}

/** How long an assertion is valid, in seconds. */
const ASSERTION_LIFE = 60

async function assertionOf(id: string, key: AssertionKey, { issuer, tokenEndpoint }: Server) {
  const { SignJWT } = await import('jose')
  const { algorithm, usable } = await importKey(key)
  const now = Math.floor(Date.now() / 1_000)
  const assertion = await new SignJWT({ jti: randomText() })
    .setProtectedHeader({ alg: algorithm, ...keyIdOf(key) })
    .setIssuer(id)
    .setSubject(id)
    .setAudience(key.audience === 'token_endpoint' ? tokenEndpoint.href : issuer)
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION_LIFE)
    .sign(usable)
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  }
}

function keyIdOf({ privateKey }: AssertionKey): { kid?: string } {
  const kid = typeof privateKey === 'object' && 'kid' in privateKey ? privateKey.kid : undefined
  return typeof kid === 'string' ? { kid } : {}
}

async function importKey({ privateKey, algorithm: given }: AssertionKey) {
  const { importJWK, importPKCS8 } = await import('jose')
  const named = typeof privateKey === 'object' && 'alg' in privateKey ? privateKey.alg : undefined
  const algorithm = given ?? (typeof named === 'string' ? named : 'ES256')
  try {
    if (typeof privateKey === 'string') return { algorithm, usable: await importPKCS8(privateKey, algorithm) }
    if ('kty' in privateKey) return { algorithm, usable: await importJWK(privateKey, algorithm) }
    return { algorithm, usable: privateKey as CryptoKey }
  } catch {
    // What went wrong is not told: messages of importers quote the key.
    const hint = `Expected a CryptoKey, a JWK, or PEM that begins with "BEGIN PRIVATE KEY", for ${algorithm}.`
    throw failure('token', 'The private key is not usable', { hint })
  }
}
