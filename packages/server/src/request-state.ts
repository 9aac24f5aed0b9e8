/** Seals what a call has learned so far into text that only this server can read, for this call alone. */

import { invalidParams, type JsonObject } from '@mcpx/protocol'
import { fromBase64Url, toBase64Url } from './base64url.ts'

/** What the sealed state is bound to: opened for anything else, it does not open. */
export interface StateBinding {
  /** The principal; nothing for anonymous callers. */
  readonly subject: string | undefined
  readonly method: string
  /** The parameters that say what is to be done. */
  readonly params: JsonObject
}

export interface RequestStateOptions {
  /** The secret that seals, and after it older ones that still open. At least 16 characters each. Default: a random one. */
  readonly secrets?: readonly string[] | undefined
  /** How long a state may be used, in ms. Default: 600,000. */
  readonly ttlMs?: number | undefined
  /** Hears once of a state that was sealed elsewhere while there are no shared secrets. */
  readonly warn?: ((problem: Error) => void) | undefined
}

export interface RequestState {
  seal(data: JsonObject, binding: StateBinding): Promise<string>
  /** Throws `RpcError` for a state that was altered, has expired, or belongs to something else. */
  open(text: string, binding: StateBinding): Promise<JsonObject>
}

/** A state is text of this many characters at most; a longer one is refused unread. */
const MAX_LENGTH = 1024 * 1024
/** The id of a key stands first, and is this long. */
const NONCE_AT = 4
const NONCE_BYTES = 12
const MIN_SECRET = 16

const SEALED_ELSEWHERE =
  'A call came back with a state that this process has not sealed. Where several processes serve one endpoint, or one is' +
  ' started anew, give createServer the same `secrets` in each: calls that ask are lost otherwise'

interface SealingKey {
  readonly id: Uint8Array
  readonly key: CryptoKey
}

export function createRequestState({ secrets, ttlMs = 600_000, warn }: RequestStateOptions = {}): RequestState {
  if (secrets?.length === 0 || secrets?.some((secret) => secret.length < MIN_SECRET)) {
    throw new RangeError(`secrets: expected one or more, each of at least ${MIN_SECRET} characters`)
  }
  let imported: Promise<SealingKey[]> | undefined
  let hasWarned = secrets !== undefined
  const keys = () => {
    // Drawn now and not before: while modules are loaded, workerd gives no random values.
    imported ??= Promise.all((secrets ?? [randomSecret()]).map(importKey))
    return imported
  }

  return {
    async seal(data, binding) {
      const { id, key } = (await keys())[0] as SealingKey
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const plain = bytesOf(JSON.stringify({ ...data, expires: Date.now() + ttlMs }))
      const sealed = await crypto.subtle.encrypt(algorithmFor(nonce, binding), key, plain)
      const whole = new Uint8Array(NONCE_AT + NONCE_BYTES + sealed.byteLength)
      whole.set(id)
      whole.set(nonce, NONCE_AT)
      whole.set(new Uint8Array(sealed), NONCE_AT + NONCE_BYTES)
      return toBase64Url(whole)
    },
    async open(text, binding) {
      const bytes = fromBase64Url(text, MAX_LENGTH)
      const sealing = bytes && (await keys()).find(({ id }) => id.every((byte, index) => byte === bytes[index]))
      if (bytes !== undefined && sealing === undefined && !hasWarned) {
        hasWarned = true
        warn?.(new Error(SEALED_ELSEWHERE))
      }
      if (bytes === undefined || sealing === undefined) throw stateError()
      const nonce = bytes.subarray(NONCE_AT, NONCE_AT + NONCE_BYTES)
      const data = await decrypt(algorithmFor(nonce, binding), sealing.key, bytes.subarray(NONCE_AT + NONCE_BYTES))
      if (typeof data.expires !== 'number' || data.expires <= Date.now()) throw stateError()
      return data
    },
  }
}

function randomSecret(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

async function decrypt(algorithm: AesGcmParams, key: CryptoKey, sealed: Uint8Array<ArrayBuffer>): Promise<JsonObject> {
  try {
    return JSON.parse(new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, sealed)))
  } catch {
    throw stateError()
  }
}

/** One message for every cause: which one it was helps nobody but an attacker. */
function stateError() {
  return invalidParams(
    'params.requestState: not valid here. It was altered, has expired, or belongs to another request',
  )
}

async function importKey(secret: string): Promise<SealingKey> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', bytesOf(text + secret))
  const key = await crypto.subtle.importKey('raw', await digest('mcpx key '), 'AES-GCM', false, ['encrypt', 'decrypt'])
  return { id: new Uint8Array(await digest('mcpx key id '), 0, NONCE_AT), key }
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

/** JSON with sorted members: the client may write them in another order when it comes back. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
