/** The token endpoint and the revocation endpoint (RFC 6749, section 3.2, and RFC 7009). */

import { AuthError } from '../auth-error.ts'
import type { TokenParams } from './grants.ts'
import { invalidGrant, OAuthError, type Parameters, readForm, unavailable } from './oauth-error.ts'
import type { FrontParts } from './oauth-front.ts'
import { findResource, parseScopes } from './request-checks.ts'

export class TokenEndpoint {
  readonly #parts: FrontParts

  constructor(parts: FrontParts) {
    this.#parts = parts
  }

  /** Redeems a code or a refresh token. Returns the members of the response. */
  async issue(request: Request): Promise<object> {
    const form = await readForm(request)
    const type = form.require('grant_type')
    if (type !== 'authorization_code' && type !== 'refresh_token') {
      const problem = 'grant_type: expected authorization_code or refresh_token, got another'
      throw new OAuthError('unsupported_grant_type', problem)
    }
    const { options, clients } = this.#parts
    const clientId = await clients.authenticate(request, form)
    const resource = form.get('resource')
    const scope = form.get('scope')
    const params: TokenParams = {
      clientId,
      resource: resource === undefined ? undefined : findResource(options.resources, resource),
      scopes: scope === undefined ? undefined : parseScopes(scope),
    }
    return type === 'refresh_token' ? this.#refresh(form, params) : this.#redeem(form, params)
  }

  async #redeem(form: Parameters, params: TokenParams): Promise<object> {
    const verifier = form.require('code_verifier')
    const redirectUri = form.get('redirect_uri')
    return this.#parts.grants.redeem(form.require('code'), verifier, redirectUri, { ...params, scopes: undefined })
  }

  /**
   * Refreshes tokens while the provider accepts the login. A user who is locked out at the provider is also locked out
   * here.
   */
  async #refresh(form: Parameters, params: TokenParams): Promise<object> {
    const { options, grants, tokens } = this.#parts
    const token = await grants.openRefreshToken(form.require('refresh_token'), params.clientId)
    const isAlive = await tokens.isAlive(token.grant).catch((error: unknown) => {
      if (!(error instanceof AuthError)) throw error
      options.onWarning(error)
      throw unavailable(`${options.provider.name} is unavailable`)
    })
    if (isAlive) return grants.rotate(token, params)
    await grants.end(token.grant)
    throw invalidGrant(`refresh_token: the login at ${options.provider.name} has ended; log in again`)
  }

  /** Ends the login of a token. An unknown token is not an error. */
  async revoke(request: Request): Promise<object> {
    const form = await readForm(request)
    const { clients, grants } = this.#parts
    const clientId = await clients.authenticate(request, form)
    await grants.revoke(form.require('token'), clientId)
    return {}
  }
}
