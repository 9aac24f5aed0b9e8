/** A request of the modern era: access to its client, and the final form of its result or error. */

import {
  type Envelope,
  ErrorCode,
  type Exchange,
  internalError,
  invalidParams,
  type JsonObject,
  kindOf,
  quoted,
  type RequestMessage,
  type RpcError,
  resourceNotFound,
  withServerInfo,
} from '@mcpx/protocol'
import { type ClientAccess, DeclaredClient } from './context.ts'
import type { ServerInternals } from './era.ts'
import { ResultError } from './errors.ts'
import { type CallState, ModernAsker } from './modern-questions.ts'

/** A request with a valid envelope and valid parameters. */
export interface ModernCall {
  readonly message: RequestMessage
  readonly params: JsonObject
  readonly envelope: Envelope
  /** The properties of the method, from the method table of the revision or an extension. */
  readonly entry: { readonly [Name in 'cacheable' | 'mayAsk']?: boolean | undefined }
  readonly exchange: Exchange
  readonly server: ServerInternals
}

export function createClientAccess(call: ModernCall, state?: CallState): ClientAccess {
  const { envelope, exchange, server } = call
  return {
    client: new DeclaredClient(envelope.clientInfo, envelope.clientCapabilities, 'modern', server.extensions),
    logLevel: server.isLogging ? envelope.logLevel : undefined,
    notify: (method, params) => exchange.notify(method, params),
    createAsker: () => new ModernAsker(call, state),
  }
}

/** The members of a call that `finishResult` uses. */
export interface FinishedCall extends Pick<ModernCall, 'server' | 'entry'> {
  readonly message: Pick<RequestMessage, 'method'>
}

/** The result types of the protocol. Extensions define others. */
const RESULT_TYPES: readonly unknown[] = ['complete', 'input_required']

/** Adds the members that modern results require: the result type, cache hints, and the server info. */
export function finishResult({ server, entry, message }: FinishedCall, result: object): object {
  const finished = withServerInfo(result, server.info)
  if (finished.resultType === undefined) finished.resultType = 'complete'
  else if (!RESULT_TYPES.includes(finished.resultType)) checkResultType(server, message.method, finished.resultType)
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

/** Throws a `ResultError` for a result type that no extension declares for the method. */
function checkResultType({ extensions }: ServerInternals, method: string, type: unknown): void {
  if (extensions?.allowsResult(type, method)) return
  const found = typeof type === 'string' ? quoted(type) : kindOf(type)
  throw new ResultError(`The result of ${method} has the resultType ${found}; leave it out, or return inputRequired()`)
}

/** Replaces error codes of the legacy era, and reserved codes that neither the protocol nor an extension defines. */
export function toModernError(error: RpcError, { extensions }: ServerInternals): RpcError {
  const { code, message, data } = error
  if (code === ErrorCode.ResourceNotFound) {
    const uri = (data as { uri?: unknown } | undefined)?.uri
    return typeof uri === 'string' ? resourceNotFound(uri, 'modern') : invalidParams(message, { data })
  }
  const isReserved = code <= ErrorCode.HeaderMismatch && code >= -32099 && !DEFINED_CODES.includes(code)
  return isReserved && extensions?.allowsError(code) !== true ? internalError(message, { data }) : error
}

const DEFINED_CODES: readonly number[] = [
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingRequiredClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
]
