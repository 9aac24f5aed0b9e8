/**
 * The steps of a login in the browser: the authorization request, the consent of the user, and the callback from the
 * provider.
 */

import { AuthorizationResponseError } from 'oauth4webapi'
import { printable } from '../auth-error.ts'
import { sha256 } from '../resource-server/dpop.ts'
import type { Consent } from './grants.ts'
import { invalidRequest, OAuthError, Parameters, plain, readForm, unavailable } from './oauth-error.ts'
import type { FrontParts } from './oauth-front.ts'
import { consentPage } from './pages.ts'
import { withParams } from './redirect-uris.ts'
import { findResource, selectScopes } from './request-checks.ts'
import type { LoginSecrets } from './upstream.ts'

/** An authorization request that waits for the user. */
interface PendingRequest extends Consent {
  /** The parameter `state` of the client. */
  readonly clientState: string | undefined
  /** The browser in which the login was started. */
  readonly browser: string
}

/** A login that waits for the provider. */
interface PendingLogin extends PendingRequest, LoginSecrets {}

const MAX_STATE = 4_096

export class Logins {
  readonly #parts: FrontParts

  constructor(parts: FrontParts) {
    this.#parts = parts
  }

  /**
   * Shows the consent page, or a page with an error. Errors are not sent to the redirect URI before the user
   * has agreed to it. Otherwise anybody could register a client and let this server redirect to any URL.
   */
  async authorize(request: Request): Promise<Response> {
    const { options, browsers, clients, seals, consentUrl } = this.#parts
    const params = new Parameters(new URL(request.url).searchParams)
    const { client, redirectUri } = await clients.require(params)
    const { browser, cookie } = await browsers.recognize(request)
    const { clientId, refreshes } = client
    const pending: PendingRequest = {
      ...{ clientId, refreshes, redirectUri, browser },
      challenge: readChallenge(params),
      resource: findResource(options.resources, params.get('resource')),
      scopes: selectScopes(options, params.get('scope')),
      clientState: params.get('state', MAX_STATE),
    }
    if (params.get('prompt') !== 'consent' && (await this.#isRemembered(pending))) {
      return this.#goToProvider(pending, cookie)
    }
    const response = await consentPage({
      serverName: options.name,
      providerName: options.provider.name,
      resource: pending.resource,
      clientName: client.name,
      verifiedHost: client.host,
      redirectUri,
      scopes: pending.scopes.map((scope) => [scope, options.scopes[scope] ?? scope] as const),
      action: consentUrl,
      request: await seals.seal('consent', pending, options.loginTtl),
      remembers: this.#canRemember(pending),
    })
    response.headers.append('set-cookie', cookie)
    return response
  }

  /** Receives the decision of the user. */
  async consent(request: Request): Promise<Response> {
    const { browsers, seals } = this.#parts
    refuseOtherSites(request, new URL(this.#parts.consentUrl).origin)
    const form = await readForm(request)
    const pending = await seals.open<PendingRequest>('consent', form.require('request', 65_536))
    if (pending === undefined) throw invalidRequest('The login has expired')
    await browsers.require(request, pending.browser)
    const { cookie } = await browsers.recognize(request)
    const decision = form.require('decision', 10)
    if (decision === 'deny') {
      return this.#redirect(pending.redirectUri, pending.clientState, {
        error: 'access_denied',
        error_description: 'The user denied access',
      })
    }
    if (decision !== 'allow') throw invalidRequest('decision: expected allow or deny')
    return this.#goToProvider(pending, cookie)
  }

  async #goToProvider(pending: PendingRequest, cookie: string): Promise<Response> {
    const { options, records, counters, upstream } = this.#parts
    const { issuer, loginTtl, maxLogins } = options
    const { count } = await counters.increment(`logins of ${issuer}`, loginTtl)
    if (count > maxLogins) {
      options.onWarning(new Error(`maxLogins: more than ${maxLogins} logins began within ${loginTtl} ms`))
      throw unavailable('Too many logins were started')
    }
    const { url, login } = await upstream.start().catch((error: Error) => {
      options.onWarning(error)
      throw unavailable(`${options.provider.name} is unavailable`)
    })
    const record: PendingLogin = { ...pending, ...login }
    await records.create(`login:${login.state}`, JSON.parse(JSON.stringify(record)), loginTtl)
    return new Response(null, { status: 303, headers: { ...REDIRECT_HEADERS, location: url, 'set-cookie': cookie } })
  }

  /** Continues when the provider has sent the browser back. */
  async callback(request: Request): Promise<Response> {
    const { browsers, records } = this.#parts
    const { searchParams } = new URL(request.url)
    const params = new Parameters(searchParams)
    const name = `login:${params.require('state', 100)}`
    const pending = (await records.get(name)) as PendingLogin | undefined
    if (pending === undefined) throw invalidRequest('The login is unknown, has expired, or was finished before')
    // Check the browser before errors, so that another browser cannot end the login.
    await browsers.require(request, pending.browser)
    if (!(await records.delete(name))) throw invalidRequest('The login was finished before')
    const result = await this.#finish(searchParams, pending)
    if (result.code !== undefined) await this.#remember(pending).catch(this.#parts.options.onWarning)
    return this.#redirect(pending.redirectUri, pending.clientState, result)
  }

  /** Returns the parameters of the response to the client. */
  async #finish(query: URLSearchParams, pending: PendingLogin): Promise<Record<string, string>> {
    const { options, upstream, grants, tokens } = this.#parts
    const { name } = options.provider
    try {
      const login = await upstream.finish(query, pending)
      if (options.allowUser !== undefined && (await options.allowUser(login.user)) !== true) {
        return { error: 'access_denied', error_description: `This account of ${name} may not use the server` }
      }
      const { clientId, redirectUri, challenge, resource, scopes, refreshes } = pending
      const consent = { clientId, redirectUri, challenge, resource, scopes, refreshes }
      const { subject } = login.user
      const code = await grants.create(consent, login.user, (id, ttl) => tokens.create(id, subject, login.tokens, ttl))
      return { code }
    } catch (error) {
      // The login cannot be repeated, so every error is sent to the client, which would wait in vain after a page.
      const failure = error instanceof Error ? error : new Error(String(error))
      options.onWarning(failure)
      const { cause } = failure
      const isDenied = cause instanceof AuthorizationResponseError && cause.error === 'access_denied'
      if (isDenied) return { error: 'access_denied', error_description: `The login at ${name} was denied` }
      const description = `The login at ${name} failed. The operator of the server can see why`
      return { error: 'server_error', error_description: description }
    }
  }

  #redirect(redirectUri: string, state: string | undefined, result: Readonly<Record<string, string>>): Response {
    const { error_description: description, ...others } = result
    const { issuer } = this.#parts.options
    const details = description === undefined ? {} : { error_description: plain(description) }
    const location = withParams(redirectUri, { ...others, ...details, state, iss: issuer })
    return new Response(null, { status: 303, headers: { ...REDIRECT_HEADERS, location } })
  }

  // Remembered consent

  /**
   * Returns whether a consent can be remembered: only if the redirect URI uses HTTPS. Another program could use the
   * port or the scheme of an application (RFC 8252, section 8.6).
   */
  #canRemember({ redirectUri }: PendingRequest): boolean {
    return this.#parts.options.rememberConsent > 0 && redirectUri.startsWith('https:')
  }

  async #isRemembered(pending: PendingRequest): Promise<boolean> {
    if (!this.#canRemember(pending)) return false
    return (await this.#parts.records.get(await consentName(pending))) !== undefined
  }

  async #remember(pending: PendingRequest): Promise<void> {
    if (!this.#canRemember(pending)) return
    const { records, options } = this.#parts
    const name = await consentName(pending)
    await records.delete(name)
    await records.create(name, {}, options.rememberConsent)
  }
}

const REDIRECT_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

async function consentName({ browser, clientId, redirectUri, resource, scopes }: PendingRequest): Promise<string> {
  return `consent:${await sha256(JSON.stringify([browser, clientId, redirectUri, resource, [...scopes].sort()]))}`
}

/** Refuses a form that a page of another site has sent. */
function refuseOtherSites({ headers }: Request, ownOrigin: string): void {
  const site = headers.get('sec-fetch-site') ?? 'same-origin'
  const origin = headers.get('origin') ?? ownOrigin
  if (site === 'same-origin' && origin === ownOrigin) return
  const problem = `The form was sent by a page of another site, ${printable(origin)}`
  throw new OAuthError('access_denied', problem, { status: 403 })
}

function readChallenge(params: Parameters): string {
  const type = params.require('response_type')
  if (type !== 'code') throw new OAuthError('unsupported_response_type', 'response_type: expected code, got another')
  if ((params.get('response_mode') ?? 'query') !== 'query')
    throw invalidRequest('response_mode: expected query, got another')
  for (const name of ['request', 'request_uri']) {
    if (params.get(name) !== undefined) throw invalidRequest(`${name}: not supported; send the parameters`)
  }
  const challenge = params.get('code_challenge')
  if (challenge === undefined || params.get('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(challenge)) {
    throw invalidRequest('code_challenge: expected PKCE with code_challenge_method S256')
  }
  return challenge
}
