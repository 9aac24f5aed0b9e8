/**
 * Writes the messages of a connection to standard error if `MCPX_DEBUG` or an option is set. Each message is one line.
 */

import type { Decoded } from './codec.ts'
import { isObject } from './json.ts'
import { type Message, Refusal } from './messages.ts'
import type { Channel } from './transport.ts'

/** Observes each message of a connection: `in` is received, `out` is sent. */
export type MessageObserver = (direction: 'in' | 'out', message: Decoded | readonly Message[]) => void

/** `true` writes messages to standard error, a function receives the lines, and `false` is silent. */
export type DebugOption = boolean | ((line: string) => void)

/** The longest string and the longest line, in characters. */
const MAX_STRING_LENGTH = 200
const MAX_LINE_LENGTH = 2_000

/**
 * Returns the observer that writes messages, or undefined if messages are not written.
 *
 * @param place `client` or `server`, at the beginning of each line.
 * @param option the `debug` option. Default: whether the environment variable `MCPX_DEBUG` is set.
 */
export function createDebugObserver(place: string, option: DebugOption = isDebugSet()): MessageObserver | undefined {
  if (option === false) return undefined
  const write = typeof option === 'function' ? option : writeToStderr
  return (direction, message) => {
    try {
      write(`mcpx ${place} ${direction === 'in' ? '<-' : '->'} ${lineOf(message)}`)
    } catch {
      // A message that cannot be written, or a failing function, must not end the connection.
    }
  }
}

/** Returns a channel that shows its messages to the observer. */
export function observeChannel(channel: Channel, observe: MessageObserver | undefined): Channel {
  if (observe === undefined) return channel
  return {
    send(message) {
      observe('out', message)
      return channel.send(message)
    },
    receive: (receiver) =>
      channel.receive((item) => {
        observe('in', item)
        return receiver(item)
      }),
    close: () => channel.close(),
  }
}

function lineOf(message: Decoded | readonly Message[]): string {
  if (message instanceof Refusal) return `invalid message: ${message.error.message}`
  const line = JSON.stringify(message, shownValue)
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}… (${line.length} characters)` : line
}

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
const REDACTED = '[redacted]'

/**
 * Replaces secrets in a JSON value by `[redacted]`: the values of members with secret names, the `value` beside a `name`
 * or `key` that is a secret name, and credentials within strings. Use it as the replacer of `JSON.stringify`.
 */
export function redactSecrets(name: string, value: unknown): unknown {
  if (SECRET_NAME.test(name)) return redactValues(value)
  if (typeof value === 'string') return redactJson(value) ?? redactText(value)
  // Headers and variables are often written as `{ name: 'API_KEY', value: '…' }`.
  const isPair = isObject(value) && 'value' in value && [value.name, value.key].some(isSecretName)
  return isPair ? { ...value, value: redactValues(value.value) } : value
}

function isSecretName(value: unknown): boolean {
  return typeof value === 'string' && SECRET_NAME.test(value)
}

/**
 * Redacts a string that is JSON, for example text content that repeats the output of a tool. Returns undefined for
 * other strings.
 */
function redactJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    const redacted = JSON.stringify(value, redactSecrets)
    // If nothing was redacted, keep the original string with its spaces.
    return redacted === JSON.stringify(value) ? text : redacted
  } catch {
    return undefined
  }
}

function redactText(text: string): string {
  return SECRET_TEXTS.reduce((rest, secret) => rest.replace(secret, REDACTED), text).replace(
    JSON_MEMBER,
    (member, inner: string) => (SECRET_NAME.test(inner) ? `"${inner}":"${REDACTED}"` : member),
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

function shownValue(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return redactSecrets(name, value)
  const text = redactSecrets(name, value.slice(0, MAX_LINE_LENGTH)) as string
  if (value.length <= MAX_STRING_LENGTH) return text
  return `${text.slice(0, MAX_STRING_LENGTH)}… (${value.length} characters)`
}

/** The globals of runtimes that this module uses, if they exist. */
interface Runtime {
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly stderr?: { write(text: string): unknown }
  }
  readonly Deno?: { readonly permissions: { querySync(query: object): { readonly state: string } } }
}

function isDebugSet(): boolean {
  const { process, Deno } = globalThis as Runtime
  try {
    // Check the permission first, because reading the variable without it makes Deno ask the user.
    const permission = Deno?.permissions.querySync({ name: 'env', variable: 'MCPX_DEBUG' })
    if (permission !== undefined && permission.state !== 'granted') return false
    return !['', '0', 'false'].includes(process?.env?.MCPX_DEBUG ?? '')
  } catch {
    return false
  }
}

function writeToStderr(line: string): void {
  const { process } = globalThis as Runtime
  process?.stderr?.write(`${line}\n`)
}
