/** Takes out of values what nobody but their owner should read, and keeps what is left short. */

export interface RedactionOptions {
  readonly isSecret?: ((key: string) => boolean) | undefined
  readonly maxLength?: number | undefined
}

export interface Redaction {
  /** A copy without secrets. */
  value(value: unknown): unknown
  /** Without user and password, and without the values of secret query parameters. */
  uri(uri: string): string
}

const REDACTED = '[redacted]'
const LEFT_OUT = '[left out]'
const MAX_DEPTH = 8
const LONGEST_TEXT = 256
const LONGEST_KEY = 100

/** What secrets are called, without the `-`, `_`, spaces and capitals between words. */
const SECRET_WORDS =
  /passw|passphrase|passcode|secret|token|apikey|accesskey|privatekey|authorization|credential|cookie|bearer|signature|sessionid|cardnumber|securitycode|otp$|^(?:pwd|pass|pin|cvv|cvc|ssn|iban|auth|jwt|mnemonic|seedphrase)$/

/** Whether a key reads as if a secret were under it: `password`, `api_key`, `accessToken`, `X-Auth-Token`, `pin`. */
export function looksSecret(key: string): boolean {
  return SECRET_WORDS.test(
    key
      .slice(0, LONGEST_TEXT)
      .replace(/[^A-Za-z]/g, '')
      .toLowerCase(),
  )
}

export function createRedaction({ isSecret = looksSecret, maxLength = 4_096 }: RedactionOptions = {}): Redaction {
  return {
    value: (value) => copyOf(value, isSecret, { left: maxLength }, 0),
    uri: (uri) => plainUri(uri, isSecret),
  }
}

/** How many characters may still be written. */
interface Budget {
  left: number
}

function copyOf(value: unknown, isSecret: (key: string) => boolean, budget: Budget, depth: number): unknown {
  if (typeof value === 'string') return shortened(value, isSecret, budget)
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
      copy.push(copyOf(item, isSecret, budget, depth + 1))
    }
    return copy
  }
  return Object.fromEntries(entriesOf(value, isSecret, budget, depth))
}

function entriesOf(value: object, isSecret: (key: string) => boolean, budget: Budget, depth: number) {
  const entries: [string, unknown][] = []
  const { name, key: named } = value as { name?: unknown; key?: unknown }
  // Headers and the like are often written as `{ name: 'Authorization', value: '…' }`.
  const hidesValue = [name, named].some((each) => typeof each === 'string' && isSecret(each))
  for (const [key, member] of Object.entries(value)) {
    if (budget.left <= 0) return [...entries, ['…', LEFT_OUT] as [string, unknown]]
    const shown = key.slice(0, LONGEST_KEY)
    budget.left -= shown.length + 4
    const isHidden = isSecret(key) || (hidesValue && key === 'value')
    if (isHidden) budget.left -= REDACTED.length
    entries.push([shown, isHidden ? REDACTED : copyOf(member, isSecret, budget, depth + 1)])
  }
  return entries
}

function shortened(text: string, isSecret: (key: string) => boolean, budget: Budget): string {
  const plain = plainUri(text.slice(0, 4 * LONGEST_TEXT), isSecret)
  const length = Math.max(0, Math.min(LONGEST_TEXT, budget.left))
  budget.left -= Math.min(plain.length, length) + 2
  return text.length > 4 * LONGEST_TEXT || plain.length > length ? `${plain.slice(0, length)}…` : plain
}

/** Leaves alone what is no URI. */
function plainUri(uri: string, isSecret: (key: string) => boolean): string {
  if (!uri.includes('://')) return uri
  return uri
    .replace(/:\/\/[^/?#\s]*@/g, `://${REDACTED}@`)
    .replace(/([?&#])([^=&#\s]+)=([^&#\s]*)/g, (all, mark: string, key: string) =>
      isSecret(key) ? `${mark}${key}=${REDACTED}` : all,
    )
}
