/** A guard with its authorization server, and functions that send requests to it. */

import type { AuthInfo } from '@mcpx/protocol'
import { type DevAuthorizationServerOptions, devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { SendRequest as Fetch } from '../bounded-fetch.ts'
import type { BearerOptions, RefusedRequest } from './bearer.ts'
import { bearer } from './bearer.ts'

export const ISSUER = 'https://as.example'
export const RESOURCE = 'https://mcp.example/mcp'

export type HeaderInit = Readonly<Record<string, string | readonly string[]>>

export interface Outcome {
  /** The accepted caller. */
  readonly auth: AuthInfo | undefined
  readonly status: number
  readonly reason: string | undefined
  readonly challenge: string
  readonly response: Response | undefined
}

export function createFixture(
  options: Partial<BearerOptions> = {},
  { authorizationServer = {} }: { authorizationServer?: Partial<DevAuthorizationServerOptions> } = {},
) {
  const machine = { clientId: 'rs', clientSecret: 'rs-secret' }
  const server = devAuthorizationServer({ issuer: ISSUER, clients: [machine], ...authorizationServer })
  const fetched: string[] = []
  const refused: RefusedRequest[] = []
  const problems: Error[] = []
  const fetch: Fetch = async (url, init) => {
    fetched.push(url)
    return server.fetch(new Request(url, init))
  }
  const guard = bearer({
    issuer: ISSUER,
    audience: RESOURCE,
    fetch,
    onRefused: (each) => refused.push(each),
    onWarning: (problem) => problems.push(problem),
    ...options,
  })

  async function send(request: Request): Promise<Outcome> {
    refused.length = 0
    const answer = await guard(request)
    const response = answer instanceof Response ? answer : undefined
    return {
      auth: answer instanceof Response ? undefined : answer,
      status: response?.status ?? 200,
      reason: refused.at(-1)?.reason,
      challenge: response?.headers.get('www-authenticate') ?? '',
      response,
    }
  }

  function sendHeaders(headers: HeaderInit = {}, url = RESOURCE): Promise<Outcome> {
    const all = new Headers()
    for (const [name, value] of Object.entries(headers)) for (const each of [value].flat()) all.append(name, each)
    return send(new Request(url, { method: 'POST', headers: all }))
  }

  return {
    server,
    guard,
    fetched,
    problems,
    send,
    sendHeaders,
    sendToken: (token: string) => sendHeaders({ authorization: `Bearer ${token}` }),
    /** A valid token, except for changed claims; `ttl` in ms. */
    token: (claims: Readonly<Record<string, unknown>> = {}, header?: { typ?: string; ttl?: number }) =>
      server.sign({ sub: 'ada', aud: RESOURCE, scope: 'mcp', client_id: 'app', ...claims }, header),
  }
}

export type Fixture = ReturnType<typeof createFixture>

/** A key pair that makes proofs of possession. */
export async function createProver() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  return {
    privateKey,
    jwk,
    /** A proof; members that are `undefined` are omitted. */
    async prove(claims: Readonly<Record<string, unknown>>, header: Readonly<Record<string, unknown>> = {}) {
      const whole = { jti: crypto.randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims }
      return new SignJWT(JSON.parse(JSON.stringify(whole)))
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
        .sign(privateKey)
    },
  }
}

/** A holder of a key, with a token that is bound to it. */
/** @param claims the claims of the token. Default: those of the fixture */
export async function createHolder(fixture: Fixture, claims: Readonly<Record<string, unknown>> = {}) {
  const prover = await createProver()
  const jkt = await calculateJwkThumbprint(prover.jwk)
  const token = await fixture.token({ ...claims, cnf: { jkt } })
  return { ...prover, jkt, token }
}

export type Holder = Awaited<ReturnType<typeof createHolder>>
