/** What is kept of each server and authorization server, and under which keys. */

import { failure } from './failure.ts'
import { isObject } from './json-request.ts'
import type { AuthStore } from './store.ts'

/** The tokens for one resource, from one authorization server, for one client. */
export interface Tokens {
  readonly issuer: string
  readonly clientId: string
  readonly resource: string
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
  readonly refreshToken?: string | undefined
  /** When to get another one, in ms since 1970; nothing where nobody knows. */
  readonly renewAt?: number | undefined
  /** In ms since 1970. */
  readonly expiresAt?: number | undefined
  /** What was granted, as far as is known. */
  readonly scope: readonly string[]
  /** What was asked for: it may be more. */
  readonly requested: readonly string[]
}

/** Where the tokens of a server lie. */
export interface Place {
  readonly issuer: string
  readonly clientId: string
  readonly resource: string
  /** Where the server's metadata lies, if its challenge said so. */
  readonly resourceMetadata?: string | undefined
}

export interface Records {
  /** What all changes of a server's tokens are made under. */
  readonly lockKey: string
  place(): Promise<Place | undefined>
  tokens(): Promise<Tokens | undefined>
  tokensAt(place: Place): Promise<Tokens | undefined>
  save(tokens: Tokens, resourceMetadata?: string): Promise<void>
  /** Forgets tokens; others that lie there by now stay. */
  drop(tokens: Tokens): Promise<void>
  /** Forgets the tokens of this server, and where they lay; resolves to what they were. */
  forget(): Promise<Tokens | undefined>
}

/**
 * @param server the URL of the server
 * @param kind tells apart clients that share a store
 * @param type the only one of tokens that is of use: others were kept while the option for proofs was another
 */
export function createRecords(store: AuthStore, server: URL, kind: string, type: Tokens['tokenType']): Records {
  const lockKey = keyOf('server', `${server.origin}${server.pathname}${server.search}`, kind)

  async function place(): Promise<Place | undefined> {
    return readPlace(lockKey, await store.get(lockKey))
  }

  async function tokensAt({ issuer, clientId, resource }: Place): Promise<Tokens | undefined> {
    const key = keyOf('tokens', issuer, clientId, resource)
    const tokens = readTokens(key, await store.get(key))
    // The key is not all that says whose tokens these are.
    const isOurs = tokens?.issuer === issuer && tokens.resource === resource && tokens.tokenType === type
    return isOurs ? tokens : undefined
  }

  return {
    lockKey,
    place,
    tokensAt,
    async tokens() {
      const where = await place()
      return where && tokensAt(where)
    },
    async save(tokens, resourceMetadata) {
      const { issuer, clientId, resource } = tokens
      await store.set(keyOf('tokens', issuer, clientId, resource), tokens)
      await store.set(lockKey, { issuer, clientId, resource, resourceMetadata })
    },
    async forget() {
      const where = await place()
      if (where === undefined) return undefined
      const tokens = await tokensAt(where)
      await store.delete(keyOf('tokens', where.issuer, where.clientId, where.resource))
      await store.delete(lockKey)
      return tokens
    },
    async drop(tokens) {
      const { issuer, clientId, resource, accessToken } = tokens
      const now = await tokensAt(tokens)
      if (now?.accessToken === accessToken) await store.delete(keyOf('tokens', issuer, clientId, resource))
    },
  }
}

export function keyOf(...parts: readonly string[]): string {
  return parts.map((part) => encodeURIComponent(part)).join('|')
}

/** Members that must be texts. */
export function hasTexts(value: unknown, names: readonly string[]): value is Readonly<Record<string, unknown>> {
  return isObject(value) && names.every((name) => typeof value[name] === 'string')
}

function readPlace(key: string, record: unknown): Place | undefined {
  if (record === undefined || record === null) return undefined
  if (!hasTexts(record, ['issuer', 'clientId', 'resource'])) throw spoiled(key)
  return record as unknown as Place
}

function readTokens(key: string, record: unknown): Tokens | undefined {
  if (record === undefined || record === null) return undefined
  const texts = ['issuer', 'clientId', 'resource', 'accessToken', 'tokenType']
  if (!hasTexts(record, texts) || !isList(record.scope) || !isList(record.requested)) throw spoiled(key)
  return record as unknown as Tokens
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

export function spoiled(key: string) {
  return failure('storage', `The record ${key} is not what was saved`, { hint: 'Remove it and log in again.' })
}
