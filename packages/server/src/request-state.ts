/** Encrypts the state of an unfinished call into a string that only this server can decrypt, and only for the same call. */

import { invalidParams, type JsonObject } from '@mcpx/protocol'
import { fromBase64Url, toBase64Url } from './base64.ts'

/** The request that an encrypted state belongs to. It cannot be decrypted for another request. */
export interface StateBinding {
  /** The principal. Undefined for anonymous callers. */
  readonly subject: string | undefined
  readonly method: string
  /** The parameters, without `_meta`, input responses and state. */
  readonly params: JsonObject
}

export interface RequestStateOptions {
  /** Secrets of at least 16 characters. The first secret encrypts; all secrets decrypt. Default: a random secret. */
  readonly secrets?: readonly string[] | undefined
  /** How long a state is valid, in ms. Default: 600,000. */
  readonly ttl?: number | undefined
  /** Called once if a state of another process is received and `secrets` is not set. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/** The longest state that is accepted from clients, in characters. */
export const MAX_STATE_LENGTH: number = 1024 * 1024
/** The lengths of the parts of an encrypted state: the id of its key, the nonce, and the encrypted data. */
const KEY_ID_BYTES = 4
const NONCE_BYTES = 12
const DATA_AT = KEY_ID_BYTES + NONCE_BYTES
const MIN_SECRET = 16

const SEALED_ELSEWHERE =
  'A call had a request state that this process has not encrypted. If several processes serve one endpoint, or if a process' +
  ' restarts, pass the same `secrets` to createServer in each; otherwise calls with questions fail'

interface SealingKey {
  readonly id: Uint8Array
  readonly key: CryptoKey
}

/** Encrypts and decrypts the states of unfinished calls. */
export class RequestState {
  readonly #secrets: readonly string[] | undefined
  readonly #ttl: number
  #onWarning: ((warning: Error) => void) | undefined
  #keys: Promise<SealingKey[]> | undefined

  constructor({ secrets, ttl = 600_000, onWarning }: RequestStateOptions = {}) {
    if (secrets?.length === 0 || secrets?.some((secret) => secret.length < MIN_SECRET)) {
      throw new RangeError(`secrets: expected one or more, each of at least ${MIN_SECRET} characters`)
    }
    this.#secrets = secrets
    this.#ttl = ttl
    this.#onWarning = secrets === undefined ? onWarning : undefined
  }

  /** @param ttl how long the state is valid, in ms. Default: the option `ttl` */
  async seal(data: JsonObject, binding: StateBinding, ttl: number = this.#ttl): Promise<string> {
    const { id, key } = (await this.#getKeys())[0] as SealingKey
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
    // JSON has no Infinity.
    const expires = Math.min(Date.now() + ttl, Number.MAX_SAFE_INTEGER)
    const plain = bytesOf(JSON.stringify({ ...data, expires }))
    const sealed = await crypto.subtle.encrypt(algorithmFor(nonce, binding), key, plain)
    const whole = new Uint8Array(DATA_AT + sealed.byteLength)
    whole.set(id)
    whole.set(nonce, KEY_ID_BYTES)
    whole.set(new Uint8Array(sealed), DATA_AT)
    return toBase64Url(whole)
  }

  /**
   * Decrypts a state. Throws an `RpcError` if it was altered, has expired, or belongs to another request.
   *
   * @param maxLength the most characters. Default: the limit for states of clients
   */
  async open(text: string, binding: StateBinding, maxLength: number = MAX_STATE_LENGTH): Promise<JsonObject> {
    const bytes = fromBase64Url(text, maxLength)
    if (bytes === undefined) throw stateError()
    const sealing = (await this.#getKeys()).find(({ id }) => id.every((byte, index) => byte === bytes[index]))
    if (sealing === undefined) {
      this.#onWarning?.(new Error(SEALED_ELSEWHERE))
      this.#onWarning = undefined
      throw stateError()
    }
    const nonce = bytes.subarray(KEY_ID_BYTES, DATA_AT)
    const data = await decrypt(algorithmFor(nonce, binding), sealing.key, bytes.subarray(DATA_AT))
    if (typeof data.expires !== 'number' || data.expires <= Date.now()) throw stateError()
    return data
  }

  /** Creates the keys on first use, because workerd has no random values while modules are loaded. */
  #getKeys(): Promise<SealingKey[]> {
    const randomSecret = () => toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
    this.#keys ??= Promise.all((this.#secrets ?? [randomSecret()]).map(importKey))
    return this.#keys
  }
}

async function decrypt(algorithm: AesGcmParams, key: CryptoKey, sealed: Uint8Array<ArrayBuffer>): Promise<JsonObject> {
  try {
    return JSON.parse(new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, sealed)))
  } catch {
    throw stateError()
  }
}

/** Creates the error, with the same message for every cause, because the cause would help an attacker. */
function stateError() {
  return invalidParams('params.requestState: not valid. It was altered, has expired, or belongs to another request')
}

async function importKey(secret: string): Promise<SealingKey> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', bytesOf(text + secret))
  const key = await crypto.subtle.importKey('raw', await digest('mcpx key '), 'AES-GCM', false, ['encrypt', 'decrypt'])
  return { id: new Uint8Array(await digest('mcpx key id '), 0, KEY_ID_BYTES), key }
}

function algorithmFor(iv: Uint8Array<ArrayBuffer>, binding: StateBinding): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData: bytesOf(bindingText(binding)) }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function bindingText({ subject, method, params }: StateBinding): string {
  const { _meta, inputResponses, requestState, ...salient } = params
  return canonical([subject ?? null, method, salient])
}

/**
 * Writes JSON with sorted members, because the client may send them in another order. Numbers that JSON does not
 * support are written by name, so that they differ from null.
 */
function canonical(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  const sorted = members.sort(([some], [other]) => (some < other ? -1 : 1))
  return `{${sorted.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join()}}`
}
