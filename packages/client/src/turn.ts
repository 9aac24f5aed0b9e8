/** One call that wants to hear what the server says during it, and which others it could be taken for. */

import {
  type Awaitable,
  type ClientCapabilities,
  ConnectionError,
  type InputRequest,
  type InputResponse,
  type LoggingMessageNotificationParams,
} from '@mcpx/protocol'
import type { Link } from './eras/era.ts'
import type { AskOrigin, RequestCallOptions } from './options.ts'

export interface Turn {
  readonly method: string
  /** What the server may say because of this call: a set of `ASKS` and `LOGS`. */
  readonly makes: number
  /** What of that must be known to be about this call, and about no other. */
  readonly needs: number
  /** How long it may wait until it runs, in ms. */
  readonly timeout: number
  readonly signal?: AbortSignal | undefined
  readonly onAsk?: ((request: InputRequest, origin: AskOrigin) => Awaitable<InputResponse>) | undefined
  readonly onLog?: ((entry: LoggingMessageNotificationParams) => void) | undefined
  /** How many questions are being answered: until then the server waits, and the call says nothing. */
  questions: number
}

export const ASKS = 1
const LOGS = 2

/** Methods during which servers have no reason to ask. */
const ASKS_NOTHING = /\/list$|^completion\/|^logging\/|^ping$/

/** @param declared what the client says that it can be asked. */
export function createTurn(
  link: Link,
  declared: ClientCapabilities,
  method: string,
  options: RequestCallOptions,
): Turn {
  const { signal, onAsk, onLog, capabilities, timeout = 60_000 } = options
  const mayAsk = link.era === 'legacy' && canBeAsked(declared) && !ASKS_NOTHING.test(method)
  const mayLog = link.server.capabilities.logging !== undefined
  const isAsked = mayAsk && onAsk !== undefined && (capabilities === undefined || canBeAsked(capabilities))
  const isTold = mayLog && onLog !== undefined && options.logs === 'own'
  const makes = (mayAsk ? ASKS : 0) | (mayLog ? LOGS : 0)
  const needs = link.connection.tellsApart ? 0 : (isAsked ? ASKS : 0) | (isTold ? LOGS : 0)
  return { method, makes, needs, timeout, signal, onAsk, onLog, questions: 0 }
}

function canBeAsked({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined
}

/** Whether what one of them must know to be its own can come from the other. */
export function areAlike(one: Turn, other: Turn): boolean {
  return ((one.needs & other.makes) | (other.needs & one.makes)) !== 0
}

const WHY = 'Over a connection like this, calls that can be asked something, or want their own logs, run one by one'

export function tookTooLong({ method, timeout }: Turn): ConnectionError {
  const hint = `${WHY}; pass a longer timeout with the call.`
  const message = `${method} was not sent: its turn did not come within ${timeout} ms`
  return new ConnectionError('timeout', message, { retryable: true, hint })
}

/** @param count how many wait. */
export function tooManyTurns({ method }: Turn, count: number): ConnectionError {
  const hint = `${WHY}; await some of them before calling on.`
  const message = `${method} was not sent: ${count} calls wait for their turn already`
  return new ConnectionError('limit', message, { retryable: true, hint })
}
