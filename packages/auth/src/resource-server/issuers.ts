/** The metadata and the keys of issuers: fetched when they are first needed, and cached. */

import { isObject } from '@mcpx/protocol'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { boundedFetch, readJson, type SendRequest } from '../bounded-fetch.ts'
import { issuerMetadataUrls, secureUrl } from '../urls.ts'
import { CredentialsError } from './credentials.ts'
import { mayShareWork } from './expiring-map.ts'

/** An authorization server whose tokens are accepted. */
export interface TrustedIssuer {
  /** Its identifier, as its tokens and its metadata spell it. */
  readonly issuer: string
  /** Its public keys. Default: the keys at `jwksUri`. */
  readonly jwks?: JSONWebKeySet | undefined
  /** The URL of its keys. Default: `jwks_uri` in its metadata. */
  readonly jwksUri?: string | undefined
  /** The algorithms of its tokens. Default: the algorithms of the guard. */
  readonly algorithms?: readonly string[] | undefined
}

/** How documents are fetched and cached. Durations are in ms. */
export interface FetchSettings {
  readonly fetch: SendRequest
  readonly timeout: number
  /** How long documents are used without another request. */
  readonly maxAge: number
  /** The shortest time between two attempts to fetch keys, after a failure or an unknown key. */
  readonly cooldown: number
  readonly onWarning: (problem: Error) => void
}

/** The default size of the largest response, in bytes. */
const MAX_RESPONSE_SIZE = 262_144

/** How long old documents are used while the issuer is unavailable, in ms. */
const MAX_STALE = 3_600_000

export type IssuerMetadata = Readonly<Record<string, unknown>>

/** Sends a request for JSON. The body is undefined if it is not JSON. */
export async function fetchJson(
  url: string,
  { fetch, timeout }: Pick<FetchSettings, 'fetch' | 'timeout'>,
  init: { method?: string; headers?: Readonly<Record<string, string>>; body?: string } = {},
  maxResponseSize: number = MAX_RESPONSE_SIZE,
): Promise<{ status: number; body: unknown }> {
  const headers = { accept: 'application/json', ...init.headers }
  const response = await boundedFetch(fetch, url, { ...init, headers }, { timeout, maxResponseSize })
  return { status: response.status, body: await readJson(response) }
}

async function fetchObject(url: string, settings: FetchSettings): Promise<Record<string, unknown>> {
  const { status, body } = await fetchJson(url, settings)
  if (status !== 200) throw new Error(`the response has the status ${status}`)
  if (!isObject(body)) throw new Error('the response is not a JSON object')
  return body
}

export function createIssuerMetadata(issuer: string, settings: FetchSettings): CachedDocument<IssuerMetadata> {
  return new CachedDocument(() => fetchMetadata(issuer, settings), settings)
}

async function fetchMetadata(issuer: string, settings: FetchSettings): Promise<IssuerMetadata> {
  const problems: string[] = []
  for (const url of issuerMetadataUrls(issuer)) {
    try {
      const metadata = await fetchObject(url, settings)
      if (metadata.issuer === issuer) return metadata
      problems.push(`${url}: the document names another issuer`)
    } catch (error) {
      problems.push(`${url}: ${(error as Error).message}`)
    }
  }
  throw new Error(`The metadata of the issuer ${issuer} is unavailable: ${problems.join('; ')}`)
}

/** Finds the key of a token. Keys are fetched again for a token with an unknown key. */
export function createIssuerKeys(
  trusted: TrustedIssuer,
  metadata: CachedDocument<IssuerMetadata>,
  settings: FetchSettings,
): JWTVerifyGetKey {
  if (trusted.jwks !== undefined) return createLocalJWKSet(trusted.jwks)
  const cache = new CachedDocument(() => fetchKeys(trusted, metadata, settings), settings)
  const unavailable = (problem: unknown) => {
    settings.onWarning(problem as Error)
    throw new CredentialsError('unavailable', 'the keys for the token are unavailable at the moment')
  }
  return async (header, token) => {
    const keys = await cache.get().catch(unavailable)
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const newKeys = await cache.refresh().catch(unavailable)
      if (newKeys === keys) throw error
      return newKeys(header, token)
    }
  }
}

async function fetchKeys(
  { issuer, jwksUri }: TrustedIssuer,
  metadata: CachedDocument<IssuerMetadata>,
  settings: FetchSettings,
) {
  const uri = jwksUri ?? (await metadata.get()).jwks_uri
  if (typeof uri !== 'string') throw new Error(`The metadata of ${issuer} names no jwks_uri`)
  const { href } = secureUrl(uri, 'jwks_uri')
  const keys = await fetchObject(href, settings).catch((cause: Error) => {
    throw new Error(`The keys of ${issuer} at ${href} are unavailable: ${cause.message}`, { cause })
  })
  return createLocalJWKSet(keys as unknown as JSONWebKeySet)
}

/** Throws if a value is not a number from 0. NaN would disable a limit, because comparisons with NaN are false. */
export function checkNumber(option: string, expected: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0) return
  throw new RangeError(`${option}: expected ${expected} from 0, got ${value}`)
}

/**
 * A cached document of another server. Concurrent callers share one request, and after a failure no request is sent for
 * a while.
 */
export class CachedDocument<V> {
  readonly #load: () => Promise<V>
  readonly #settings: FetchSettings
  #value: V | undefined
  #loadedAt = Number.NEGATIVE_INFINITY
  #failedAt = Number.NEGATIVE_INFINITY
  #error: unknown
  #pending: Promise<V> | undefined

  constructor(load: () => Promise<V>, settings: FetchSettings) {
    this.#load = load
    this.#settings = settings
  }

  /** Returns the document. Rejects if it is neither cached nor available. */
  async get(): Promise<V> {
    return this.#newerThan(this.#settings.maxAge)
  }

  /** Requests the document again, unless it was requested within the cooldown. */
  async refresh(): Promise<V> {
    return this.#newerThan(this.#settings.cooldown)
  }

  async #newerThan(age: number): Promise<V> {
    if (this.#value !== undefined && Date.now() < this.#loadedAt + age) return this.#value
    if (Date.now() < this.#failedAt + this.#settings.cooldown) return this.#staleValue()
    try {
      return await this.#loadOnce()
    } catch (error) {
      this.#error = error
      this.#failedAt = Date.now()
      return this.#staleValue()
    }
  }

  #staleValue(): V {
    const { maxAge, onWarning } = this.#settings
    if (this.#value === undefined || Date.now() >= this.#loadedAt + maxAge + MAX_STALE) throw this.#error
    onWarning(this.#error as Error)
    return this.#value
  }

  async #loadOnce(): Promise<V> {
    if (this.#pending !== undefined && mayShareWork()) return this.#pending
    const pending = this.#load()
    this.#pending = pending
    try {
      this.#value = await pending
      this.#loadedAt = Date.now()
      this.#failedAt = Number.NEGATIVE_INFINITY
      return this.#value
    } finally {
      if (this.#pending === pending) this.#pending = undefined
    }
  }
}
