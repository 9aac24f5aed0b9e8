/** Sends the requests of an OAuth client to an authorization server. */

import { base64url, exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { DevAuthorizationServer } from './dev-authorization-server.ts'

export const ISSUER = 'https://as.example'
export const RESOURCE = 'https://mcp.example/mcp'
export const REDIRECT = 'https://app.example/back'
export const VERIFIER = 'a-verifier-that-is-long-enough-for-the-rules-of-pkce'

export type Form = Readonly<Record<string, string | readonly string[] | undefined>>

export function paramsOf(form: Form): URLSearchParams {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(form)) {
    for (const each of value === undefined ? [] : [value].flat()) params.append(name, each)
  }
  return params
}

export async function post(
  server: DevAuthorizationServer,
  path: string,
  form: Form,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }> {
  const request = new Request(`${server.issuer}/${path}`, { method: 'POST', body: paramsOf(form), headers })
  const response = await server.fetch(request)
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text), headers: response.headers }
}

/** Sends an authorization request. Returns the parameters of the redirect, or the members of the error. */
export async function authorize(server: DevAuthorizationServer, form: Form): Promise<Record<string, string>> {
  const params = paramsOf({
    response_type: 'code',
    redirect_uri: REDIRECT,
    code_challenge: await hash(VERIFIER),
    code_challenge_method: 'S256',
    state: 'xyz',
    resource: RESOURCE,
    scope: 'mcp',
    ...form,
  })
  const response = await server.fetch(new Request(`${server.issuer}/authorize?${params}`))
  const location = response.headers.get('location')
  if (location === null) return (await response.json()) as Record<string, string>
  return { location, ...Object.fromEntries(new URL(location).searchParams) }
}

async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return base64url.encode(new Uint8Array(digest))
}

/** Creates the form of a token request with a code. */
export function createCodeForm(code: string | undefined, form: Form = {}): Form {
  return { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: VERIFIER, ...form }
}

/** Creates a key pair that signs DPoP proofs. */
export async function createProver() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  return {
    privateKey,
    jwk,
    /** Signs a proof. Claims that are undefined are left out. */
    async prove(claims: Readonly<Record<string, unknown>>, header: Readonly<Record<string, unknown>> = {}) {
      const whole = { jti: crypto.randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims }
      return new SignJWT(JSON.parse(JSON.stringify(whole)))
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
        .sign(privateKey)
    },
  }
}
