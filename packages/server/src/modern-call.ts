/** A request of the modern era: access to its client, and the final form of its result. */

import {
  type Envelope,
  type Exchange,
  type JsonObject,
  kindOf,
  type MethodEntry,
  quoted,
  type RequestMessage,
  withServerInfo,
} from '@mcpx/protocol'
import type { ClientAccess } from './context.ts'
import type { ServerInternals } from './era.ts'
import { ResultError } from './errors.ts'
import { type CallState, ModernAsker } from './modern-questions.ts'

/** A request with a valid envelope and valid parameters. */
export interface ModernCall {
  readonly message: RequestMessage
  readonly params: JsonObject
  readonly envelope: Envelope
  /** The entry of the method in the method table of the revision. */
  readonly entry: MethodEntry
  readonly exchange: Exchange
  readonly server: ServerInternals
}

export function createClientAccess(call: ModernCall, state?: CallState): ClientAccess {
  const { envelope, exchange, server } = call
  return {
    client: { info: envelope.clientInfo, capabilities: envelope.clientCapabilities },
    logLevel: server.isLogging ? envelope.logLevel : undefined,
    notify: (method, params) => exchange.notify(method, params),
    createAsker: () => new ModernAsker(call, state),
  }
}

/** The members of a call that `finishResult` uses. */
export interface FinishedCall extends Pick<ModernCall, 'server' | 'entry'> {
  readonly message: Pick<RequestMessage, 'method'>
}

/** The result types of the protocol. Extensions may define others, which are not supported. */
const RESULT_TYPES: readonly unknown[] = ['complete', 'input_required']

/** Adds the members that modern results require: the result type, cache hints, and the server info. */
export function finishResult({ server, entry, message }: FinishedCall, result: object): object {
  const finished = withServerInfo(result, server.info)
  if (finished.resultType === undefined) finished.resultType = 'complete'
  else if (!RESULT_TYPES.includes(finished.resultType)) throw unknownTypeError(message.method, finished.resultType)
  if (finished.resultType === 'complete' && entry.cacheable === true) {
    finished.ttlMs = toTtl(finished.ttlMs)
    if (finished.cacheScope !== 'public') finished.cacheScope = 'private'
  }
  return finished
}

/** Rounds to whole ms. Invalid values become 0 (not cacheable); Infinity becomes Number.MAX_SAFE_INTEGER. */
function toTtl(ms: unknown): number {
  if (typeof ms !== 'number' || !(ms > 0)) return 0
  return Math.min(Math.floor(ms), Number.MAX_SAFE_INTEGER)
}

function unknownTypeError(method: string, type: unknown): ResultError {
  const found = typeof type === 'string' ? quoted(type) : kindOf(type)
  return new ResultError(`The result of ${method} has the resultType ${found}; leave it out, or return inputRequired()`)
}
