/** Removes secrets from values that are written to logs and traces, and shortens them. */

const REDACTED = '[redacted]'
const LEFT_OUT = '[left out]'
const MAX_DEPTH = 8
const MAX_STRING_LENGTH = 256
const MAX_KEY_LENGTH = 100

/** Names of secrets, in lower case and without `-`, `_` and spaces. */
const SECRET_WORDS =
  /passw|passphrase|passcode|secret|token|apikey|accesskey|privatekey|authorization|credential|cookie|bearer|signature|sessionid|cardnumber|securitycode|otp$|^(?:pwd|pass|pin|cvv|cvc|ssn|iban|auth|jwt|mnemonic|seedphrase)$/

/** Returns whether a key names a secret, such as `password`, `api_key`, `accessToken`, `X-Auth-Token` or `pin`. */
export function looksSecret(key: string): boolean {
  return SECRET_WORDS.test(
    key
      .slice(0, MAX_STRING_LENGTH)
      .replace(/[^A-Za-z]/g, '')
      .toLowerCase(),
  )
}

type IsSecret = (key: string) => boolean

/** Options of `redact`. */
export interface RedactOptions {
  /** Returns whether the value of a key is secret. Called for keys at any depth. Default: `looksSecret`. */
  readonly isSecret?: IsSecret | undefined
  /**
   * The approximate largest size of the copy, in characters of JSON. A longer value is shortened and marked. Default:
   * 4,096.
   */
  readonly maxLength?: number | undefined
}

/** Returns a copy of a JSON value for logs and traces: without secrets, and shortened. */
export function redact(value: unknown, { isSecret = looksSecret, maxLength = 4_096 }: RedactOptions = {}): unknown {
  return redactWithin(value, isSecret, { left: maxLength }, 0)
}

/** The number of characters that may still be written. */
interface Budget {
  left: number
}

function redactWithin(value: unknown, isSecret: IsSecret, budget: Budget, depth: number): unknown {
  if (typeof value === 'string') return shorten(value, isSecret, budget)
  if (typeof value !== 'object' || value === null) {
    budget.left -= 8
    return typeof value === 'bigint' ? String(value) : value
  }
  budget.left -= LEFT_OUT.length
  if (depth >= MAX_DEPTH || budget.left <= 0) return LEFT_OUT
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    for (const item of value) {
      if (budget.left <= 0) return [...copy, LEFT_OUT]
      copy.push(redactWithin(item, isSecret, budget, depth + 1))
    }
    return copy
  }
  return Object.fromEntries(entriesOf(value, isSecret, budget, depth))
}

function entriesOf(value: object, isSecret: IsSecret, budget: Budget, depth: number) {
  const entries: [string, unknown][] = []
  const { name: nameMember, key: keyMember } = value as { name?: unknown; key?: unknown }
  // Headers are often written as `{ name: 'Authorization', value: '…' }`.
  const hidesValue = [nameMember, keyMember].some((each) => typeof each === 'string' && isSecret(each))
  for (const [key, member] of Object.entries(value)) {
    if (budget.left <= 0) return [...entries, ['…', LEFT_OUT] as [string, unknown]]
    const name = key.slice(0, MAX_KEY_LENGTH)
    budget.left -= name.length + 4
    const isHidden = isSecret(key) || (hidesValue && key === 'value')
    if (isHidden) budget.left -= REDACTED.length
    entries.push([name, isHidden ? REDACTED : redactWithin(member, isSecret, budget, depth + 1)])
  }
  return entries
}

function shorten(text: string, isSecret: IsSecret, budget: Budget): string {
  const plain = redactUri(text.slice(0, 4 * MAX_STRING_LENGTH), isSecret)
  const length = Math.max(0, Math.min(MAX_STRING_LENGTH, budget.left))
  budget.left -= Math.min(plain.length, length) + 2
  return text.length > 4 * MAX_STRING_LENGTH || plain.length > length ? `${plain.slice(0, length)}…` : plain
}

/** Removes passwords and secret parameters from a URI. Returns strings without URIs unchanged. */
export function redactUri(uri: string, isSecret: IsSecret = looksSecret): string {
  if (!uri.includes('://')) return uri
  return uri
    .replace(/:\/\/[^/?#\s]*@/g, `://${REDACTED}@`)
    .replace(/([?&#])([^=?&#\s]+)=([^&#\s]*)/g, (all, mark: string, key: string) =>
      isSecret(key) ? `${mark}${key}=${REDACTED}` : all,
    )
}
