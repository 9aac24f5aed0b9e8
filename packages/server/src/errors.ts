/** The errors of this package. Faults in user code are reported to the author and masked for clients. */

import {
  type CallToolResult,
  type Context,
  guarded,
  internalError,
  type JsonObject,
  quoted,
  RpcError,
  resourceNotFound as resourceNotFoundIn,
} from '@mcpx/protocol'
import type { ServerRequest } from './middleware.ts'

/** The error of an invalid registration or option. The message names the place and the remedy. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError'
}

/**
 * Thrown by handlers to send an error message to the client. From a tool it becomes a result with `isError: true`,
 * which the model reads. From a resource, prompt or completer it becomes a protocol error. All other errors are masked.
 *
 * ```ts
 * throw new ToolError('There is no city called Atlantis.')
 * ```
 */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/**
 * The error of an invalid input request, or of a key that is used twice. This is a bug of the server; clients never see
 * the message.
 */
export class QuestionError extends Error {
  override readonly name = 'QuestionError'
}

/**
 * The error of a handler that returns a value which cannot be sent. This is a bug of the server; clients never see the
 * message.
 */
export class ResultError extends Error {
  override readonly name = 'ResultError'
}

/**
 * Thrown by a question that has no answer yet, to end this run of the handler. The question is sent even if the handler
 * catches this error.
 */
export class InputRequired extends Error {
  override readonly name = 'InputRequired'

  constructor() {
    super('Input is required from the client: this run of the handler ends, and the handler runs again with the answer')
  }
}

/**
 * Creates the error for a URI without a resource. Each client receives the error code of its revision.
 *
 * ```ts
 * throw resourceNotFound('note://7')
 * ```
 */
export function resourceNotFound(uri: string): RpcError {
  return resourceNotFoundIn(uri, 'modern')
}

/**
 * Called with each fault, which is an unexpected error in user code. The cancellation of a call is not a fault. The
 * client sees only `id`. `request` is the method with the tool, prompt or URI, such as `tools/call "search"`. It is
 * undefined for faults outside of a request.
 */
export type OnError = (error: unknown, ctx: Context | undefined, id: string, request: string | undefined) => void

/** Reports faults in user code to the server's author. */
export class Faults {
  readonly #onError: (...args: Parameters<OnError>) => void

  /** @param onError may throw or reject without an effect on the response. Default: writes to stderr. */
  constructor(onError: OnError = logFault) {
    this.#onError = guarded<Parameters<OnError>>(onError)
  }

  /**
   * Reports a fault and returns the id that the client sees instead. The cancellation of a call is not a fault: a
   * handler that passes `ctx.signal` to other functions throws an `AbortError` when the client disconnects.
   */
  report(error: unknown, ctx?: Context, request?: ServerRequest): string {
    const id = crypto.randomUUID().slice(0, 8)
    if (isCancellation(error, ctx?.signal)) return id
    this.#onError(error, ctx, id, request && describeRequest(request))
    return id
  }

  /** Returns the error for the response. Protocol errors are unchanged; all others are reported and masked. */
  toRpcError(error: unknown, ctx?: Context, request?: ServerRequest): RpcError {
    if (error instanceof RpcError) return error
    if (error instanceof ToolError) return internalError(error.message)
    return internalError(`Internal error (${this.report(error, ctx, request)})`)
  }

  /** Returns the result of a failed tool. Rethrows protocol errors and `InputRequired`, which are not tool failures. */
  toToolResult(error: unknown, ctx: Context, request: ServerRequest): CallToolResult {
    if (error instanceof RpcError || error instanceof InputRequired) throw error
    if (error instanceof ToolError) return failedResult(error.message)
    return failedResult(`The tool failed (error ${this.report(error, ctx, request)})`)
  }
}

/**
 * Returns whether an error is the reason of an aborted signal, or an error that platform functions throw for an aborted
 * signal.
 */
function isCancellation(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted !== true) return false
  if (error === signal.reason) return true
  return error instanceof Error && (error.name === 'AbortError' || error.cause === signal.reason)
}

/** Creates a tool result with `isError` and a message for the model. */
export function failedResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** The default of `onError`. Writes the error to stderr, so that the author can find it by the id. */
function logFault(error: unknown, ctx: Context | undefined, id: string, request: string | undefined): void {
  // The response to a cancelled call is not sent, and its error is usually the cancellation itself.
  if (ctx?.signal.aborted === true) return
  const place = request === undefined ? '' : ` in ${request}`
  // biome-ignore lint/suspicious/noConsole: without onError, stderr is the only place for errors
  console.error(`@mcpx/server: error ${id}${place}:`, error)
}

/** Returns the method with the name of the tool or prompt, or the URI: `tools/call "search"`. */
export function describeRequest({ method, params }: ServerRequest): string {
  const { name, uri } = (params.ref ?? params) as JsonObject
  const target = name ?? uri
  return typeof target === 'string' ? `${method} ${quoted(target)}` : method
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
