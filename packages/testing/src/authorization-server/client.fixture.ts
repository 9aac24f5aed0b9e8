/** Speaks to a development server as a client does, one request at a time. */

import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { DevAuthorizationServer } from './dev-authorization-server.ts'
import { tokenHash } from './dpop-proof.ts'

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

/** What an authorization request leads to: the members of the redirect, or of the error. */
export async function authorize(server: DevAuthorizationServer, form: Form): Promise<Record<string, string>> {
  const params = paramsOf({
    response_type: 'code',
    redirect_uri: REDIRECT,
    code_challenge: await tokenHash(VERIFIER),
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

/** The form that redeems a code. */
export function redeeming(code: string | undefined, form: Form = {}): Form {
  return { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: VERIFIER, ...form }
}

/** A key pair that makes proofs of possession. */
export async function createProver() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  return {
    privateKey,
    jwk,
    /** A proof; members given as `undefined` are left out. */
    async prove(claims: Readonly<Record<string, unknown>>, header: Readonly<Record<string, unknown>> = {}) {
      const whole = { jti: crypto.randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims }
      return new SignJWT(JSON.parse(JSON.stringify(whole)))
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
        .sign(privateKey)
    },
  }
}
