/** The tokens of each server in the store, and the keys of all records. */

import { isObject } from '@mcpx/protocol'
import { AuthError, printable } from '../auth-error.ts'
import { scopesOf } from './challenge.ts'
import type { AuthStore } from './store.ts'
import type { TokenResponse } from './token-endpoint.ts'

/** Identifies the tokens for one resource, of one authorization server, for one client. */
export interface TokenOwner {
  readonly issuer: string
  readonly clientId: string
  readonly resource: string
}

export interface Tokens extends TokenOwner {
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
  readonly refreshToken?: string | undefined
  /** When to refresh, in ms since 1970. Undefined if the lifetime is unknown. */
  readonly renewAt?: number | undefined
  /** When the access token expires, in ms since 1970. Undefined if the lifetime is unknown. */
  readonly expiresAt?: number | undefined
  /** The granted scopes. If the response does not list them: the previous scopes, or the requested scopes. */
  readonly scope: readonly string[]
  /** The requested scopes. */
  readonly requested: readonly string[]
}

/** The owner of a server's current tokens. */
export interface ServerRecord extends TokenOwner {
  /** The URL of the server's metadata, if its challenge named one. */
  readonly resourceMetadata?: string | undefined
}

/** The members of a token record that are known before the response. */
export type TokenTerms = Pick<Tokens, 'issuer' | 'clientId' | 'resource' | 'requested' | 'tokenType'>

/** A token is refreshed at most this long before it expires, in ms. */
const REFRESH_AHEAD = 30_000

/**
 * @param url the token endpoint
 * @throws AuthError for a type of token that was not requested
 */
export function tokensOf(response: TokenResponse, terms: TokenTerms, url: string, previous?: Tokens): Tokens {
  const { accessToken, lifetime, refreshToken = previous?.refreshToken, scope } = response
  checkType(response.tokenType, terms, url)
  const expiresAt = lifetime === undefined ? undefined : Date.now() + lifetime
  return {
    ...terms,
    accessToken,
    refreshToken,
    expiresAt,
    renewAt: expiresAt === undefined ? undefined : expiresAt - Math.min(REFRESH_AHEAD, (lifetime ?? 0) / 10),
    scope: scope === undefined ? (previous?.scope ?? terms.requested) : scopesOf(scope),
  }
}

function checkType(type: string, { tokenType: expected }: TokenTerms, url: string): void {
  const received = type.toLowerCase()
  if (received === expected.toLowerCase()) return
  if (expected === 'DPoP' && received === 'bearer') {
    const hint = 'It was not used, because anybody who steals it can use it. Omit the dpop option to accept it.'
    throw new AuthError('The token is not bound to the DPoP key', { step: 'token', url, hint })
  }
  const hint = received === 'dpop' ? 'Pass dpop: true.' : 'Only Bearer and DPoP tokens can be used.'
  throw new AuthError(`The server issued a token of type ${printable(type)}`, { step: 'token', url, hint })
}

/** Returns whether a token should be refreshed now. */
export function isDue({ renewAt }: Tokens): boolean {
  return renewAt !== undefined && Date.now() >= renewAt
}

export function isExpired({ expiresAt }: Tokens): boolean {
  return expiresAt !== undefined && Date.now() >= expiresAt
}

/** Returns whether a list contains all wanted scopes. */
export function includesAll(scopes: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((scope) => scopes.includes(scope))
}

/** The members of `TokenOwner`. */
const OWNER = ['issuer', 'clientId', 'resource'] as const

/** The records of one server in a store. */
export class TokenRecords {
  /** The key of the server's record, and of the lock for changes to its tokens. */
  readonly lockKey: string
  readonly #store: AuthStore
  readonly #tokenType: Tokens['tokenType']

  /**
   * @param kind distinguishes clients that share a store
   * @param tokenType the type that can be used; tokens of the other type were stored with a different `dpop` option
   */
  constructor(store: AuthStore, server: URL, kind: string, tokenType: Tokens['tokenType']) {
    this.lockKey = recordKey('server', `${server.origin}${server.pathname}${server.search}`, kind)
    this.#store = store
    this.#tokenType = tokenType
  }

  async server(): Promise<ServerRecord | undefined> {
    return (await readRecord(this.#store, this.lockKey, OWNER)) as ServerRecord | undefined
  }

  async tokensOf(owner: TokenOwner): Promise<Tokens | undefined> {
    const key = tokenKey(owner)
    const record = await readRecord(this.#store, key, [...OWNER, 'accessToken', 'tokenType'])
    if (record === undefined) return undefined
    if (!isStringList(record.scope) || !isStringList(record.requested)) throw damagedRecord(key)
    const { issuer, resource, tokenType } = record
    const isUsable = issuer === owner.issuer && resource === owner.resource && tokenType === this.#tokenType
    return isUsable ? (record as unknown as Tokens) : undefined
  }

  async current(): Promise<Tokens | undefined> {
    const server = await this.server()
    return server && this.tokensOf(server)
  }

  async save(tokens: Tokens, resourceMetadata: string | undefined): Promise<void> {
    const { issuer, clientId, resource } = tokens
    await this.#store.set(tokenKey(tokens), tokens)
    await this.#store.set(this.lockKey, { issuer, clientId, resource, resourceMetadata })
  }

  /** Deletes tokens, unless they have been replaced in the store. */
  async delete(tokens: Tokens): Promise<void> {
    const stored = await this.tokensOf(tokens)
    if (stored?.accessToken === tokens.accessToken) await this.#store.delete(tokenKey(tokens))
  }

  /** Deletes the current tokens and the server's record. Returns the tokens. */
  async deleteAll(): Promise<Tokens | undefined> {
    const server = await this.server()
    if (server === undefined) return undefined
    const tokens = await this.tokensOf(server)
    await this.#store.delete(tokenKey(server))
    await this.#store.delete(this.lockKey)
    return tokens
  }
}

function tokenKey({ issuer, clientId, resource }: TokenOwner): string {
  return recordKey('tokens', issuer, clientId, resource)
}

export function recordKey(...parts: readonly string[]): string {
  return parts.map((part) => encodeURIComponent(part)).join('|')
}

/** Returns whether a value is an object in which these members are strings. */
export function hasStrings<K extends string>(
  value: unknown,
  names: readonly K[],
): value is Readonly<Record<K, string> & Record<string, unknown>> {
  return isObject(value) && names.every((name) => typeof value[name] === 'string')
}

/**
 * Reads a record of the store. Returns undefined if it does not exist.
 *
 * @param names the members that must be strings; otherwise the promise rejects with `AuthError`
 */
export async function readRecord<K extends string>(store: AuthStore, key: string, names: readonly K[]) {
  const record = await store.get(key)
  if (record === undefined || record === null) return undefined
  if (hasStrings(record, names)) return record
  throw damagedRecord(key)
}

function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

function damagedRecord(key: string): AuthError {
  const hint = 'Delete it and log in again.'
  return new AuthError(`The record ${key} is damaged`, { step: 'storage', hint })
}
