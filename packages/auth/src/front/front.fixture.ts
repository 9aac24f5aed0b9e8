/** A front, its provider, an MCP client and browsers, all in one process without a network. */

import type { RecordStore } from '@mcpx/protocol'
import { memoryStore } from '@mcpx/protocol/memory'
import { Hono } from 'hono'
import { FakeProvider } from './fake-provider.fixture.ts'
import { type OAuthFront, oauthFront } from './oauth-front.ts'
import type { OAuthFrontOptions } from './options.ts'
import { oidc } from './providers.ts'

export const FRONT = 'https://front.example'
export const RESOURCE = 'https://front.example/mcp'
export const CALLBACK = 'http://127.0.0.1:4711/callback'
export const SECRET = 'a secret of at least 32 characters, for tests'

/** The result of one request of a browser. */
export interface Page {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly location: string | undefined
}

export class World {
  readonly provider = new FakeProvider('https://login.example')
  readonly store = memoryStore()
  readonly warnings: Error[] = []
  /** Documents by URL, for client metadata. */
  readonly documents = new Map<string, () => Response | Promise<Response>>()
  /** The URLs that the front has requested. */
  readonly requested: string[] = []
  readonly options: Partial<OAuthFrontOptions>
  readonly front: OAuthFront
  readonly app: Hono

  constructor(options: Partial<OAuthFrontOptions> = {}) {
    this.options = options
    this.front = this.createNode()
    this.app = new Hono().route('/', this.front.routes)
  }

  /** Another process with the same store. */
  createNode(options: Partial<OAuthFrontOptions> = {}): OAuthFront {
    const { clientId, clientSecret } = this.provider
    return oauthFront({
      issuer: FRONT,
      provider: oidc({ issuer: this.provider.issuer, clientId, clientSecret }),
      secrets: [SECRET],
      store: this.store,
      fetch: (url, init) => this.fetch(url, init),
      onWarning: (warning) => void this.warnings.push(warning),
      ...this.options,
      ...options,
    })
  }

  /** Lets the records of the store fail once: at the n-th call from now, or at the n-th call of one method. */
  failStore(n: number, method?: keyof RecordStore): void {
    const { records } = this.store
    let calls = 0
    for (const name of ['create', 'get', 'update', 'delete'] as const) {
      const original = records[name].bind(records) as (...args: unknown[]) => unknown
      const failing = (...args: unknown[]) => {
        if (method === undefined || method === name) calls += 1
        if (calls !== n) return original(...args)
        calls += 1
        return Promise.reject(Object.assign(new Error('The store is down'), { retryable: true }))
      }
      Object.assign(records, { [name]: failing })
    }
  }

  async fetch(url: string, init: RequestInit): Promise<Response> {
    this.requested.push(url)
    const document = this.documents.get(url)
    if (document !== undefined) return document()
    return this.provider.fetch(new Request(url, init))
  }

  /** Sends a request to the front. */
  async request(path: string, init?: RequestInit): Promise<Response> {
    return this.app.request(path.startsWith('http') ? path : FRONT + path, init)
  }

  async register(metadata: object = {}): Promise<Record<string, string>> {
    const response = await this.request('/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...CLIENT, ...metadata }),
    })
    return (await response.json()) as Record<string, string>
  }

  /** Sends a form as a program does. */
  async post(path: string, form: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
    const response = await this.request(path, { method: 'POST', headers, body: new URLSearchParams(form) })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, string>,
    }
  }

  /** The URL that a client opens in the browser. */
  authorizeUrl(clientId: string, params: Readonly<Record<string, string | undefined>> = {}): string {
    const all = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: CALLBACK,
      state: 'state of the client',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      resource: RESOURCE,
      ...params,
    }
    const url = new URL(`${FRONT}/authorize`)
    for (const [name, value] of Object.entries(all)) if (value !== undefined) url.searchParams.set(name, value)
    return url.href
  }

  redeem(clientId: string, code: string, params: Readonly<Record<string, string>> = {}) {
    const form = { grant_type: 'authorization_code', client_id: clientId, code, code_verifier: VERIFIER }
    return this.post('/token', { ...form, redirect_uri: CALLBACK, ...params })
  }

  refresh(clientId: string, token: string, params: Readonly<Record<string, string>> = {}) {
    return this.post('/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...params })
  }

  /** Logs a user in completely. */
  async logIn(params: Readonly<Record<string, string | undefined>> = {}, metadata: object = {}) {
    const { client_id: clientId = '' } = await this.register(metadata)
    const end = await new Browser(this).logIn(this.authorizeUrl(clientId, params))
    const { body } = await this.redeem(clientId, end.get('code') ?? '')
    return { clientId, accessToken: body.access_token ?? '', refreshToken: body.refresh_token ?? '', body }
  }

  /** The caller of an MCP request with a token, or the response that refuses it. */
  async call(token: string, guard = this.front.authenticate) {
    return guard(new Request(RESOURCE, { method: 'POST', headers: { authorization: `Bearer ${token}` } }))
  }

  /** The status of the refusal of an MCP request, or 200. */
  async statusOf(token: string, guard = this.front.authenticate): Promise<number> {
    const result = await this.call(token, guard)
    return result instanceof Response ? result.status : 200
  }
}

export const CLIENT = {
  client_name: 'Test client',
  redirect_uris: [CALLBACK],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
}

export const VERIFIER = 'a-verifier-of-at-least-43-characters-for-the-tests'

/** The PKCE challenge of the verifier. */
export const CHALLENGE = 'oWrv4wM3QfsPR-eiI098OmgormVwNLsc-rvamS6QbS8'

/** A browser: keeps cookies of the front, and follows redirects between the front and the provider. */
export class Browser {
  readonly #world: World
  readonly #app: Hono
  readonly cookies = new Map<string, string>()

  constructor(world: World, app: Hono = world.app) {
    this.#world = world
    this.#app = app
  }

  /** Copies the cookies of another browser: it is the same one, at another node. */
  adopt(other: Browser): this {
    for (const [name, value] of other.cookies) this.cookies.set(name, value)
    return this
  }

  async open(url: string, init: RequestInit = {}): Promise<Page> {
    const { origin } = new URL(url)
    const request = new Request(url, { ...init, redirect: 'manual' })
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    if (origin === FRONT && cookie !== '' && !request.headers.has('cookie')) request.headers.set('cookie', cookie)
    const response = await (origin === FRONT ? this.#app.fetch(request) : this.#world.provider.fetch(request))
    if (origin === FRONT) this.#keep(response.headers)
    const { status, headers } = response
    const location = headers.get('location')
    return {
      url,
      status,
      headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url).href,
    }
  }

  #keep(headers: Headers): void {
    for (const each of headers.getSetCookie()) {
      const [pair = ''] = each.split(';')
      const at = pair.indexOf('=')
      this.cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
  }

  /** Presses a button of a consent page. */
  async decide(page: Page, decision = 'allow', headers: Record<string, string> = {}): Promise<Page> {
    const form = new URLSearchParams({ request: sealedRequestOf(page), decision })
    const standard = { origin: FRONT, 'sec-fetch-site': 'same-origin' }
    return this.open(`${FRONT}/consent`, { method: 'POST', body: form, headers: { ...standard, ...headers } })
  }

  /** Follows redirects of the front and the provider. Returns the first page, or the URL of the client. */
  async follow(page: Page): Promise<Page | URL> {
    let current = page
    for (let redirects = 0; redirects < 10; redirects++) {
      const { location } = current
      if (location === undefined) return current
      const target = new URL(location)
      if (target.origin !== FRONT && target.origin !== new URL(this.#world.provider.issuer).origin) return target
      current = await this.open(location)
    }
    throw new Error('too many redirects')
  }

  /** Opens the URL of a client, allows it, and returns the parameters that the client gets. */
  async logIn(url: string): Promise<URLSearchParams> {
    const page = await this.open(url)
    const next = page.location === undefined ? await this.decide(page) : page
    const end = await this.follow(next)
    if (end instanceof URL) return end.searchParams
    throw new Error(`${end.status}: ${end.text}`)
  }
}

/** The sealed request in the form of a consent page. */
export function sealedRequestOf({ text, status }: Page): string {
  const sealed = /name="request" value="([^"]+)"/.exec(text)?.[1]
  if (sealed === undefined) throw new Error(`There is no form: ${status} ${text}`)
  return sealed
}
