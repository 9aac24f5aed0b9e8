/**
 * Grants. A grant records what a user has allowed a client to do. Codes and tokens are encrypted references to a grant.
 * They are valid while the grant exists, so deleting the grant revokes all of them.
 */

import type { RecordStore } from '@mcpx/protocol'
import { calculatePKCECodeChallenge } from 'oauth4webapi'
import { invalidGrant, OAuthError } from './oauth-error.ts'
import type { CheckedOptions } from './options.ts'
import { randomId, type Seals } from './seals.ts'

/** The request that a user has agreed to. */
export interface Consent {
  readonly clientId: string
  readonly redirectUri: string
  /** The PKCE challenge. */
  readonly challenge: string
  readonly resource: string
  readonly scopes: readonly string[]
  /** Whether the client receives refresh tokens. */
  readonly refreshes: boolean
}

/** The user at the provider. */
export interface FrontUser {
  /** Identifies the user at the provider. */
  readonly subject: string
  /** The claims of the provider about the user. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** The stored record. Times are in ms since 1970. */
export interface Grant extends Consent, FrontUser {
  readonly expiresAt: number
  /** The number of the current refresh token; 0 until the code was redeemed. */
  readonly generation: number
  /** When the current refresh token was issued. */
  readonly rotatedAt: number
}

/** The content of a code or a token. It names the grant. */
interface Reference {
  readonly grant: string
}

interface AccessReference extends Reference {
  readonly scopes: readonly string[]
}

interface RefreshReference extends Reference {
  readonly generation: number
}

/** The parameters of a token request that must match the grant. */
export interface TokenParams {
  readonly clientId: string
  readonly resource: string | undefined
  readonly scopes: readonly string[] | undefined
}

const ENDED = 'it is unknown, has expired, or was revoked'

export class Grants {
  readonly #records: RecordStore
  readonly #seals: Seals
  readonly #options: CheckedOptions
  /** Returns the ids of the other records of a grant. They expire together with the grant. */
  readonly #related: (id: string) => readonly string[]

  constructor(records: RecordStore, seals: Seals, options: CheckedOptions, related: (id: string) => readonly string[]) {
    this.#records = records
    this.#seals = seals
    this.#options = options
    this.#related = related
  }

  /** Calls `prepare` with the id of a new grant, then stores the grant until its code expires. Returns the code. */
  async create(
    consent: Consent,
    user: FrontUser,
    prepare: (id: string, ttl: number) => Promise<void>,
  ): Promise<string> {
    const { codeTtl, grantTtl } = this.#options
    const id = randomId()
    const record = { ...consent, ...user, expiresAt: Date.now() + grantTtl, generation: 0, rotatedAt: 0 }
    await prepare(id, codeTtl)
    await this.#records.create(nameOf(id), JSON.parse(JSON.stringify(record)), codeTtl)
    return this.#seals.seal('code', { grant: id } satisfies Reference, codeTtl)
  }

  /** Redeems a code. A second use, or a wrong verifier, ends the grant, because the code may be stolen. */
  async redeem(code: string, verifier: string, redirectUri: string | undefined, params: TokenParams): Promise<object> {
    const reference = await this.#seals.open<Reference>('code', code)
    const id = reference?.grant
    const grant = await this.#find(id)
    if (id === undefined || grant?.clientId !== params.clientId) throw invalidGrant(`code: ${ENDED}`)
    // Extend the records before the code is used, so that the client can try again if the store fails.
    const ttl = grant.expiresAt - Date.now()
    for (const name of [nameOf(id), ...this.#related(id)]) await this.#records.get(name, ttl)
    let isFirst = false
    const redeemed = await this.#update(id, (current) => {
      isFirst = current.generation === 0
      return isFirst ? { generation: 1, rotatedAt: Date.now() } : {}
    })
    if (redeemed === undefined) throw invalidGrant(`code: ${ENDED}`)
    if (!isFirst) throw await this.#stolen(id, 'code: it was used before')
    if (redirectUri !== undefined && redirectUri !== grant.redirectUri) {
      throw await this.#stolen(id, 'redirect_uri: expected the value in the authorization request, got another')
    }
    if ((await calculatePKCECodeChallenge(verifier)) !== grant.challenge) {
      throw await this.#stolen(id, 'code_verifier: it does not belong to the code_challenge')
    }
    try {
      return await this.#tokens(id, redeemed, narrow(grant, params))
    } catch (error) {
      await this.end(id)
      throw error
    }
  }

  /** Returns the grant that a refresh token of this client names. */
  async openRefreshToken(token: string, clientId: string): Promise<RefreshReference> {
    const reference = await this.#seals.open<RefreshReference>('refresh', token)
    const grant = await this.#find(reference?.grant)
    if (reference === undefined || grant?.clientId !== clientId) throw invalidGrant(`refresh_token: ${ENDED}`)
    return reference
  }

  /**
   * Replaces a refresh token. Within the grace period, the previous token is accepted too, and the same new token is
   * returned. This is needed because responses can be lost, and because clients refresh in several processes.
   */
  async rotate({ grant: id, generation }: RefreshReference, params: TokenParams): Promise<object> {
    let isUsable = false
    const grant = await this.#update(id, (current) => {
      isUsable = this.#isUsable(current, generation)
      return current.generation === generation ? { generation: generation + 1, rotatedAt: Date.now() } : {}
    })
    if (grant === undefined) throw invalidGrant(`refresh_token: ${ENDED}`)
    if (!isUsable) throw await this.#stolen(id, 'refresh_token: it was used before')
    return this.#tokens(id, grant, narrow(grant, params))
  }

  #isUsable({ generation: current, rotatedAt }: Grant, generation: number): boolean {
    if (generation === current) return true
    return generation === current - 1 && generation > 0 && Date.now() - rotatedAt <= this.#options.refreshGrace
  }

  /** Returns the grant of an access token with the scopes of the token. */
  async openAccessToken(token: string) {
    const reference = await this.#seals.open<AccessReference>('access', token)
    const grant = await this.#find(reference?.grant)
    if (reference === undefined || grant === undefined || grant.generation === 0) return undefined
    return { id: reference.grant, grant, scopes: reference.scopes, expiresAt: reference.exp }
  }

  /** Ends the grant of an access or refresh token, if the token belongs to this client. */
  async revoke(token: string, clientId: string): Promise<void> {
    const reference =
      (await this.#seals.open<Reference>('refresh', token)) ?? (await this.#seals.open<Reference>('access', token))
    const grant = await this.#find(reference?.grant)
    if (reference !== undefined && grant?.clientId === clientId) await this.end(reference.grant)
  }

  async #find(id: string | undefined): Promise<Grant | undefined> {
    return id === undefined ? undefined : ((await this.#records.get(nameOf(id))) as Grant | undefined)
  }

  /** Ends a grant with all of its tokens. */
  async end(id: string): Promise<void> {
    for (const name of [nameOf(id), ...this.#related(id)]) await this.#records.delete(name)
  }

  async #update(id: string, change: (grant: Grant) => Partial<Grant>): Promise<Grant | undefined> {
    const updated = await this.#records.update(nameOf(id), (record) => {
      Object.assign(record, change(record as unknown as Grant))
    })
    return updated as unknown as Grant | undefined
  }

  async #stolen(id: string, problem: string): Promise<OAuthError> {
    await this.end(id)
    return invalidGrant(`${problem}. All tokens of this login were revoked; log in again`)
  }

  async #tokens(id: string, grant: Grant, scopes: readonly string[]): Promise<object> {
    const { generation, expiresAt, refreshes } = grant
    const remaining = expiresAt - Date.now()
    const ttl = Math.min(this.#options.accessTokenTtl, remaining)
    return {
      access_token: await this.#seals.seal('access', { grant: id, scopes } satisfies AccessReference, ttl),
      token_type: 'Bearer',
      expires_in: Math.floor(ttl / 1_000),
      scope: scopes.join(' '),
      ...(refreshes && {
        refresh_token: await this.#seals.seal(
          'refresh',
          { grant: id, generation } satisfies RefreshReference,
          remaining,
        ),
      }),
    }
  }
}

function nameOf(id: string): string {
  return `grant:${id}`
}

/** Returns the scopes of a token request. Throws if the grant does not include them. */
function narrow(grant: Grant, { resource, scopes }: TokenParams): readonly string[] {
  if (resource !== undefined && resource !== grant.resource) {
    throw new OAuthError('invalid_target', 'resource: expected the resource of the login, got another')
  }
  const other = scopes?.find((scope) => !grant.scopes.includes(scope))
  if (other !== undefined)
    throw new OAuthError('invalid_scope', 'scope: expected scopes of the login, got other scopes')
  return scopes ?? grant.scopes
}
