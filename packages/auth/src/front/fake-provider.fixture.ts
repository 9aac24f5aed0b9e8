/** A provider that logs the user in at once, with OpenID Connect or in the way of GitHub, and that can be made to misbehave. */

import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { calculatePKCECodeChallenge } from 'oauth4webapi'

interface PendingCode {
  readonly challenge: string
  readonly nonce: string | null
  readonly redirectUri: string
}

export class FakeProvider {
  readonly issuer: string
  readonly clientId = 'the-front'
  readonly clientSecret = 'the secret of the front'
  /** Members of the metadata. */
  metadata: Record<string, unknown> = {}
  /** Claims of the ID token; undefined omits one. */
  claims: Record<string, unknown> = {}
  /** Members of the token response. */
  tokens: Record<string, unknown> = {}
  /** Parameters of the redirect; null omits one. */
  callback: Record<string, string | null> = {}
  /** Replaces the response of an endpoint. */
  interfere: (request: Request, form: URLSearchParams) => Response | undefined | Promise<Response | undefined> = () =>
    undefined
  /** The parameters of each visit. */
  readonly visits: Record<string, string>[] = []
  /** The forms of each token request. */
  readonly requests: Record<string, string>[] = []
  readonly headers: Headers[] = []
  /** Tokens that are accepted. */
  readonly valid = new Set<string>()
  /** Refresh tokens that are accepted once. */
  readonly refreshable = new Set<string>()
  reused = 0
  #count = 0
  readonly #codes = new Map<string, PendingCode>()
  /** Created when it is first needed: workers have no random numbers while they load modules. */
  #keyPair: ReturnType<typeof generateKeyPair> | undefined

  constructor(issuer: string) {
    this.issuer = issuer
  }

  get #key(): ReturnType<typeof generateKeyPair> {
    this.#keyPair ??= generateKeyPair('ES256')
    return this.#keyPair
  }

  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const form = new URLSearchParams(request.method === 'POST' ? await request.clone().text() : '')
    const other = await this.interfere(request, form)
    if (other !== undefined) return other
    if (url.pathname.endsWith('/.well-known/openid-configuration')) return Response.json(this.#describe())
    if (url.pathname.endsWith('/jwks')) {
      const { publicKey } = await this.#key
      return Response.json({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'one' }] })
    }
    if (url.pathname.endsWith('/authorize')) return this.#authorize(url)
    if (url.pathname.endsWith('/token') || url.pathname.endsWith('/access_token')) {
      this.headers.push(request.headers)
      return this.#token(form)
    }
    if (url.pathname.endsWith('/user')) return this.#user(request)
    return new Response('not here', { status: 404 })
  }

  #describe(): object {
    const base = this.issuer.replace(/\/$/, '')
    return {
      issuer: this.issuer,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      jwks_uri: `${base}/jwks`,
      scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      ...this.metadata,
    }
  }

  #authorize({ searchParams: query }: URL): Response {
    this.visits.push(Object.fromEntries(query))
    const code = `upstream-code-${++this.#count}`
    const redirectUri = query.get('redirect_uri') ?? ''
    this.#codes.set(code, { challenge: query.get('code_challenge') ?? '', nonce: query.get('nonce'), redirectUri })
    const back = new URL(redirectUri)
    const params = { code, state: query.get('state'), ...this.callback }
    for (const [name, value] of Object.entries(params)) if (value !== null) back.searchParams.append(name, value)
    return new Response(null, { status: 302, headers: { location: back.href } })
  }

  async #token(form: URLSearchParams): Promise<Response> {
    this.requests.push(Object.fromEntries(form))
    const refused = () => Response.json({ error: 'invalid_grant' }, { status: 400 })
    if (form.get('grant_type') === 'refresh_token') {
      if (!this.refreshable.delete(form.get('refresh_token') ?? '')) {
        this.reused += 1
        return refused()
      }
      return Response.json(this.#issue())
    }
    const code = this.#codes.get(form.get('code') ?? '')
    this.#codes.delete(form.get('code') ?? '')
    const challenge = await calculatePKCECodeChallenge(form.get('code_verifier') ?? '')
    if (code?.challenge !== challenge || code.redirectUri !== form.get('redirect_uri')) return refused()
    return Response.json({ ...this.#issue(), id_token: await this.idToken(code.nonce), ...this.tokens })
  }

  #issue(): Record<string, unknown> {
    const access_token = `upstream-access-${++this.#count}`
    const refresh_token = `upstream-refresh-${this.#count}`
    this.valid.add(access_token)
    this.refreshable.add(refresh_token)
    return { access_token, refresh_token, token_type: 'Bearer', expires_in: 3_600, ...this.tokens }
  }

  async idToken(nonce: string | null, alg = 'ES256'): Promise<string> {
    const now = Math.floor(Date.now() / 1_000)
    const standard = {
      iss: this.issuer,
      sub: 'ada',
      aud: this.clientId,
      iat: now,
      exp: now + 300,
      nonce: nonce ?? undefined,
    }
    const { privateKey } = await this.#key
    const claims = { ...standard, email: 'ada@example.com', ...this.claims }
    return new SignJWT(claims).setProtectedHeader({ alg, kid: 'one' }).sign(privateKey)
  }

  #user(request: Request): Response {
    this.headers.push(request.headers)
    const token = (request.headers.get('authorization') ?? '').replace('Bearer ', '')
    if (!this.valid.has(token)) return new Response('{}', { status: 401 })
    return Response.json({ id: 583_231, login: 'ada', ...this.claims })
  }
}
