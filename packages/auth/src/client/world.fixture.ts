/** An MCP server, its authorization server and a user behind a `fetch` that knows no other hosts. */
import { createHash } from 'node:crypto'
import type { Fetch } from '../bounded-fetch.ts'
import { manualRedirect, type Redirect } from './redirects.ts'

export type Handler = (request: Request, body: URLSearchParams) => Response | Promise<Response>

export interface WorldOptions {
  /** The URL of the server. */
  readonly mcp?: string
  readonly issuer?: string
  /** Members of the metadata of the MCP server; `undefined` omits one. */
  readonly resource?: object
  /** Members of the metadata of the authorization server. */
  readonly server?: object
  /** The challenge; `undefined` for none. */
  readonly challenge?: string | undefined
  /** Members of the token response. */
  readonly token?: object
  /** Parameters of the callback; `null` omits one. */
  readonly callback?: Readonly<Record<string, string | null>>
  /** Handlers by URL without query. They replace the default ones. */
  readonly on?: Readonly<Record<string, Handler>>
  /** Handles requests with a valid token. Default: `{ ok: true }`. */
  readonly serve?: (request: Request, scope: readonly string[]) => Response | Promise<Response> | undefined
  /** The tokens that the server accepts. Default: the tokens of its authorization server. */
  readonly valid?: Set<string>
}

export interface RecordedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: string
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

export const to = (location: string, status = 302) => new Response(null, { status, headers: { location } })

export class World {
  readonly mcp: string
  readonly issuer: string
  readonly requests: RecordedRequest[] = []
  readonly valid: Set<string>
  readonly refreshable = new Set<string>()
  /** How often a used refresh token was sent again. */
  reused = 0
  /** Called with each request before the handler. If it returns a response, the handler is not called. */
  interfere: (request: Request, body: URLSearchParams) => Response | undefined | Promise<Response | undefined> = () =>
    undefined
  logins = 0
  readonly #options: WorldOptions
  readonly #codes = new Map<string, { challenge: string; scope: string }>()
  readonly #scopes = new Map<string, string>()
  #count = 0

  constructor(options: WorldOptions = {}) {
    this.#options = options
    this.mcp = options.mcp ?? 'https://mcp.example/mcp'
    this.valid = options.valid ?? new Set()
    this.issuer = options.issuer ?? 'https://as.example'
  }

  readonly fetch: Fetch = async (input, init) => {
    const request = new Request(input as string, init)
    const body = request.body === null ? '' : await request.clone().text()
    const url = new URL(request.url)
    this.requests.push({ method: request.method, url, headers: request.headers, body })
    const params = new URLSearchParams(body)
    const interference = await this.interfere(request, params)
    if (interference !== undefined) return interference
    const handler =
      this.#options.on?.[`${url.origin}${url.pathname}`] ?? this.#handlers()[`${url.origin}${url.pathname}`]
    if (handler === undefined) return new Response('not here', { status: 404 })
    return await handler(request, params)
  }

  /** A redirect whose user agrees at once. */
  get redirect(): Redirect {
    return manualRedirect('http://127.0.0.1:3000/callback', (url) => this.agree(url))
  }

  async agree(url: URL): Promise<string> {
    this.logins += 1
    const { headers } = await this.fetch(url, { redirect: 'manual' })
    return headers.get('location') ?? ''
  }

  /** The requests to a path, in their order. */
  to(path: string): RecordedRequest[] {
    return this.requests.filter(({ url }) => url.pathname === path)
  }

  get challenge(): string {
    return `Bearer resource_metadata="${this.#resourceMetadata}"`
  }

  get #resourceMetadata(): string {
    const { origin, pathname } = new URL(this.mcp)
    return `${origin}/.well-known/oauth-protected-resource${pathname}`
  }

  #handlers(): Readonly<Record<string, Handler>> {
    const { issuer, mcp } = this
    const { origin } = new URL(issuer)
    const metadata = { ...this.#serverMetadata(), ...this.#options.server }
    return {
      [mcp]: (request) => this.serve(request),
      [this.#resourceMetadata]: () =>
        json({ resource: mcp, authorization_servers: [issuer], ...this.#options.resource }),
      [`${origin}/.well-known/oauth-authorization-server${new URL(issuer).pathname.replace(/\/$/, '')}`]: () =>
        json(metadata),
      [`${origin}/register`]: async (request) =>
        json({ ...((await request.clone().json()) as object), client_id: `client-${++this.#count}` }, 201),
      [`${origin}/authorize`]: (request) => this.#authorize(new URL(request.url).searchParams),
      [`${origin}/token`]: (_, body) => this.#token(body),
    }
  }

  #serverMetadata() {
    const { origin } = new URL(this.issuer)
    return {
      issuer: this.issuer,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
    }
  }

  /** The handler of the MCP server. */
  serve(request: Request): Response | Promise<Response> {
    const [, token = ''] = /^(?:Bearer|DPoP) (.+)$/.exec(request.headers.get('authorization') ?? '') ?? []
    const challenge = 'challenge' in this.#options ? this.#options.challenge : this.challenge
    if (!this.valid.has(token)) {
      return new Response('', {
        status: 401,
        headers: challenge === undefined ? {} : { 'www-authenticate': challenge },
      })
    }
    return this.#options.serve?.(request, (this.#scopes.get(token) ?? '').split(' ')) ?? json({ ok: true })
  }

  #authorize(query: URLSearchParams): Response {
    const code = `code-${++this.#count}`
    this.#codes.set(code, { challenge: query.get('code_challenge') ?? '', scope: query.get('scope') ?? '' })
    const back = new URL(query.get('redirect_uri') ?? '')
    const params = { code, state: query.get('state'), iss: this.issuer, ...this.#options.callback }
    for (const [name, value] of Object.entries(params)) if (value !== null) back.searchParams.append(name, value)
    return to(back.href)
  }

  #token(body: URLSearchParams): Response {
    const grant = body.get('grant_type')
    const begun = this.#codes.get(body.get('code') ?? '')
    this.#codes.delete(body.get('code') ?? '')
    if (grant === 'authorization_code' && begun?.challenge !== challengeOf(body.get('code_verifier') ?? '')) {
      return json({ error: 'invalid_grant' }, 400)
    }
    const before = body.get('refresh_token') ?? ''
    if (grant === 'refresh_token' && !this.refreshable.delete(before)) {
      this.reused += 1
      this.valid.clear()
      return json({ error: 'invalid_grant' }, 400)
    }
    const scope = begun?.scope ?? this.#scopes.get(before) ?? body.get('scope') ?? ''
    const token = `access-token-${++this.#count}@${new URL(this.issuer).host}`
    const refresh = `refresh-token-${this.#count}`
    this.valid.add(token)
    this.refreshable.add(refresh)
    this.#scopes.set(token, scope).set(refresh, scope)
    return json({
      access_token: token,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: refresh,
      ...this.#options.token,
    })
  }
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

/** The query of each visit to the authorization endpoint. */
export function visits(world: World): Record<string, string>[] {
  return world.to('/authorize').map(({ url }) => Object.fromEntries(url.searchParams))
}

/** Requires the default response to a valid token. */
export async function ok(response: Promise<Response>): Promise<void> {
  const said: unknown = await (await response).json()
  if (JSON.stringify(said) !== '{"ok":true}') throw new Error(`The server answered ${JSON.stringify(said)}`)
}

/** The reason of a rejection. Fails for a promise that resolves. */
export async function caught(run: () => Promise<unknown>): Promise<unknown> {
  const result = await run().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in result) return result.error
  throw new Error(`Expected a rejection, got ${String(result.value)}`)
}
