/** Removes secrets from values that are written to logs, traces and transcripts, and shortens them. */

import { isObject } from './json.ts'

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
  const start = text.slice(0, 4 * MAX_STRING_LENGTH)
  const plain = redactUri(redactString(start, isSecret), isSecret)
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

// Messages, and strings

/** Names of members that hold secrets. A progress token is not a secret. */
const SECRET_NAME =
  /authorization|bearer|cookie|credential|passw|passphrase|passcode|pwd|secret|(?:api|access|account|private)[-_]?key|jwt$|(?<!progress)token$|^(?:pin|otp|cvv|cvc|ssn)$/i
/** Matches members of JSON objects within strings that contain more than JSON. The last member may be cut off. */
const JSON_MEMBER = /"([^"\\]{1,64})":\s?"(?:[^"\\]|\\.)*(?:"|\\?$)/g
/** Secrets within strings. */
const SECRET_TEXTS = [
  // Credentials of an `Authorization` header, and JSON web tokens.
  /\b(?:Bearer|Basic|DPoP) [\w.~+/=-]{8,}|\beyJ[\w-]{8,}\.[\w.-]+/gi,
  // Passwords and tokens before the host of a URL, and parameters of its query and its fragment.
  /(?<=\/\/[^\s/:@]{1,64}:)[^\s/@]{1,256}(?=@)|(?<=\/\/)[\w.~-]{16,256}(?=@)/gi,
  /(?<=[?&#](?:[\w-]{0,32}(?:token|secret|password|key|signature|sig)|code)=)[^\s&#"]+/gi,
  // Headers, and assignments such as `API_KEY=…`, including assignments in JSON within a string of JSON.
  /(?<=\b(?:set-cookie|cookie|[\w-]{0,32}authorization)\s?:\s?)[^\r\n"\\]+/gi,
  /(?<=\b[\w-]{0,32}(?:token|secret|passw(?:or)?d|pwd|(?:api|access|account|private)[-_]?key)\\{0,3}["']?\s?[:=]\s?\\{0,3}["']?)[^\s"'&,;\\]{6,}/gi,
  // Keys in the forms of GitHub, GitLab, npm, OpenAI, Stripe, Hugging Face, Slack, Amazon and Google, and private keys.
  /\b(?:gh[oprsu]_|github_pat_|glpat-|npm_|sk-(?:[a-z]{1,16}-)?|[rs]k_(?:live|test)_|whsec_|hf_|xox[abprs]-|AKIA|AIza|ya29\.|GOCSPX-)[\w-]{16,}/g,
  /(?<=-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----)[\s\w+/=\\]+/g,
]

/**
 * Replaces secrets in a JSON value by `[redacted]`: the values of members with secret names, the `value` beside a `name`
 * or `key` that is a secret name, and credentials within strings. Use it as the replacer of `JSON.stringify`.
 */
export function redactSecrets(name: string, value: unknown): unknown {
  return redactMember(name, value, (key) => SECRET_NAME.test(key))
}

function redactMember(name: string, value: unknown, isSecret: IsSecret): unknown {
  if (isSecret(name)) return redactValues(value)
  if (typeof value === 'string') return redactString(value, isSecret)
  // Headers and variables are often written as `{ name: 'API_KEY', value: '…' }`.
  const isPair = isObject(value) && 'value' in value
  const isSecretPair = isPair && [value.name, value.key].some((key) => typeof key === 'string' && isSecret(key))
  return isSecretPair ? { ...value, value: redactValues(value.value) } : value
}

/** Redacts the secrets within a string, which may be JSON, such as text content that repeats the output of a tool. */
function redactString(text: string, isSecret: IsSecret): string {
  if (/^\s*[[{]/.test(text)) {
    try {
      const value: unknown = JSON.parse(text)
      const redacted = JSON.stringify(value, (name, member) => redactMember(name, member, isSecret))
      // If nothing was redacted, keep the original string with its spaces.
      return redacted === JSON.stringify(value) ? text : redacted
    } catch {
      // It is not JSON, or was cut off.
    }
  }
  return SECRET_TEXTS.reduce((rest, secret) => rest.replace(secret, REDACTED), text).replace(
    JSON_MEMBER,
    (member, inner: string) => (isSecret(inner) ? `"${inner}":"${REDACTED}"` : member),
  )
}

/** Members of JSON Schemas. A schema describes a secret but does not contain one, so it is not redacted. */
const SCHEMA_MEMBERS = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const']

/** Redacts all strings and numbers of a value, such as a list of cookies. */
function redactValues(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'number') return REDACTED
  if (Array.isArray(value)) return value.map(redactValues)
  if (!isObject(value) || SCHEMA_MEMBERS.some((member) => member in value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redactValues(member)]))
}
