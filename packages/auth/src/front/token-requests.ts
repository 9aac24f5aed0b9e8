/** The token endpoint and the revocation endpoint (RFC 6749, section 3.2, and RFC 7009). */

import { AuthError } from '../auth-error.ts'
import type { Clients } from './clients.ts'
import type { Grants, TokenParams } from './grants.ts'
import { invalidGrant, OAuthError, type Parameters, readForm, unavailable } from './oauth-error.ts'
import type { CheckedOptions } from './options.ts'
import { findResource, parseScopes } from './request-checks.ts'
import type { UpstreamTokenStore } from './upstream-tokens.ts'

export class TokenEndpoint {
  readonly #options: CheckedOptions
  readonly #clients: Clients
  readonly #grants: Grants
  readonly #tokens: UpstreamTokenStore

  constructor(options: CheckedOptions, clients: Clients, grants: Grants, tokens: UpstreamTokenStore) {
    this.#options = options
    this.#clients = clients
    this.#grants = grants
    this.#tokens = tokens
  }

  /** Redeems a code or a refresh token. Returns the members of the response. */
  async issue(request: Request): Promise<object> {
    const form = await readForm(request)
    const type = form.require('grant_type')
    if (type !== 'authorization_code' && type !== 'refresh_token') {
      throw new OAuthError(
        'unsupported_grant_type',
        'grant_type: expected authorization_code or refresh_token, got another',
      )
    }
    const clientId = await this.#clients.authenticate(request, form)
    const resource = form.get('resource')
    const scope = form.get('scope')
    const params: TokenParams = {
      clientId,
      resource: resource === undefined ? undefined : findResource(this.#options.resources, resource),
      scopes: scope === undefined ? undefined : parseScopes(scope),
    }
    return type === 'refresh_token' ? this.#refresh(form, params) : this.#redeem(form, params)
  }

  async #redeem(form: Parameters, params: TokenParams): Promise<object> {
    const verifier = form.require('code_verifier')
    return this.#grants.redeem(form.require('code'), verifier, form.get('redirect_uri'), {
      ...params,
      scopes: undefined,
    })
  }

  /**
   * Refreshes tokens while the provider accepts the login. A user who is locked out at the provider is locked out
   * here, too.
   */
  async #refresh(form: Parameters, params: TokenParams): Promise<object> {
    const token = await this.#grants.openRefreshToken(form.require('refresh_token'), params.clientId)
    const isAlive = await this.#tokens.isAlive(token.grant).catch((error: unknown) => {
      if (!(error instanceof AuthError)) throw error
      this.#options.onWarning(error)
      throw unavailable(`${this.#options.provider.name} is unavailable`)
    })
    if (isAlive) return this.#grants.rotate(token, params)
    await this.#grants.end(token.grant)
    throw invalidGrant(`refresh_token: the login at ${this.#options.provider.name} has ended; log in again`)
  }

  /** Ends the login of a token. An unknown token is not an error. */
  async revoke(request: Request): Promise<object> {
    const form = await readForm(request)
    const clientId = await this.#clients.authenticate(request, form)
    await this.#grants.revoke(form.require('token'), clientId)
    return {}
  }
}
