/**
 * Writes the messages of a connection to standard error if `MCPX_DEBUG` or an option is set. Each message is one line.
 */

import type { Decoded } from './codec.ts'
import { type Message, Refusal } from './messages.ts'
import { redactSecrets } from './redact.ts'
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
