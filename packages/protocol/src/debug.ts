/** Writes the messages of a connection to standard error, one line each, while `MCPX_DEBUG` or an option is set. */

import type { Decoded } from './codec.ts'
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
 * Returns the observer that writes messages, or undefined if nothing is to be written.
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
  /authorization|cookie|credential|passw|passphrase|secret|api[-_]?key|private[-_]?key|(?<!progress)token$/i
/** Members of JSON within strings, as in the text content that repeats the output of a tool. The last one may be cut. */
const JSON_MEMBER = /"([^"\\]{1,64})":\s?"(?:[^"\\]|\\.)*(?:"|\\?$)/g
/** Credentials within strings: those of an `Authorization` header, JSON web tokens, and passwords and parameters of URLs. */
const SECRET_TEXT =
  /\b(?:Bearer|Basic|DPoP) [\w.~+/=-]{8,}|\beyJ[\w-]{8,}\.[\w.-]+|(?<=\/\/[^\s/:@]{1,64}:)[^\s/@]{1,256}(?=@)|(?<=[?&][\w-]{0,32}(?:token|secret|password|key)=)[^\s&#"]+/gi

/**
 * Returns a value of JSON with `[redacted]` in the place of secrets: of members whose names say that they are secret, and of
 * credentials within strings. Use it as the replacer of `JSON.stringify`.
 */
export function redactSecrets(name: string, value: unknown): unknown {
  if (SECRET_NAME.test(name) && (typeof value === 'string' || typeof value === 'number')) return '[redacted]'
  if (typeof value !== 'string') return value
  return value
    .replace(SECRET_TEXT, '[redacted]')
    .replace(JSON_MEMBER, (member, inner: string) => (SECRET_NAME.test(inner) ? `"${inner}":"[redacted]"` : member))
}

function shownValue(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return redactSecrets(name, value)
  const text = redactSecrets(name, value.slice(0, MAX_LINE_LENGTH)) as string
  if (value.length <= MAX_STRING_LENGTH) return text
  return `${text.slice(0, MAX_STRING_LENGTH)}… (${value.length} characters)`
}

/** The parts of runtimes that are used, where they exist. */
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
    // Deno would ask its user for the permission.
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
