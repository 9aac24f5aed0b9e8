/** The errors of this package, and how faults in user code are reported to the author and masked for clients. */

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

/** Something was registered, or an option was set, in a way that cannot work: the message names the place and the remedy. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError'
}

/**
 * Thrown by a tool to tell the model what went wrong. It becomes a result with `isError: true`; thrown by a resource, a
 * prompt or a completer, it becomes a protocol error with this message. Every other error is masked.
 *
 * ```ts
 * throw new ToolError('There is no city called Atlantis.')
 * ```
 */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/** An input request that breaks a rule, or a key that is used twice. A fault of the server's author: clients never see its message. */
export class QuestionError extends Error {
  override readonly name = 'QuestionError'
}

/** A handler returned something that cannot be sent. A fault of the server's author: clients never see its message. */
export class ResultError extends Error {
  override readonly name = 'ResultError'
}

/** Thrown where an answer is missing: it ends this run of the handler. The call asks the question even if the handler catches it. */
export class InputRequired extends Error {
  override readonly name = 'InputRequired'

  constructor() {
    super('Input is required from the client: this run of the handler ends here and starts again with the answer')
  }
}

/**
 * The error to throw for a URI that names no resource. Each client gets the form that its revision has.
 *
 * ```ts
 * throw resourceNotFound('note://7')
 * ```
 */
export function resourceNotFound(uri: string): RpcError {
  return resourceNotFoundIn(uri, 'modern')
}

/**
 * Called with each fault. `id` is all that the client sees of it. `request` names the method and the tool, prompt or URI,
 * such as `tools/call "search"`; it is undefined for faults outside of a request.
 */
export type OnError = (error: unknown, ctx: Context | undefined, id: string, request: string | undefined) => void

/** Reports faults in user code to the server's author. */
export class Faults {
  readonly #onError: (...args: Parameters<OnError>) => void

  /** @param onError may throw or reject: that never affects the response. Default: writes to stderr. */
  constructor(onError: OnError = logFault) {
    this.#onError = guarded<Parameters<OnError>>(onError)
  }

  /** Reports a fault and returns the id that the client sees instead. */
  report(error: unknown, ctx?: Context, request?: ServerRequest): string {
    const id = crypto.randomUUID().slice(0, 8)
    this.#onError(error, ctx, id, request && describeRequest(request))
    return id
  }

  /** The error to respond with: protocol errors as they are, all others masked. */
  toRpcError(error: unknown, ctx?: Context, request?: ServerRequest): RpcError {
    if (error instanceof RpcError) return error
    if (error instanceof ToolError) return internalError(error.message)
    return internalError(`Internal error (${this.report(error, ctx, request)})`)
  }

  /** The result of a tool that failed. Throws protocol errors and questions: they are not tool failures. */
  toToolResult(error: unknown, ctx: Context, request: ServerRequest): CallToolResult {
    if (error instanceof RpcError || error instanceof InputRequired) throw error
    if (error instanceof ToolError) return failedResult(error.message)
    return failedResult(`The tool failed (error ${this.report(error, ctx, request)})`)
  }
}

/** A tool result that tells the model about a failure. */
export function failedResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** Without `onError` the author would have nothing but the id that a client saw. */
function logFault(error: unknown, ctx: Context | undefined, id: string, request: string | undefined): void {
  // A cancelled call shows no id to anybody, and its failure is usually the cancellation itself.
  if (ctx?.signal.aborted === true) return
  const place = request === undefined ? '' : ` in ${request}`
  // biome-ignore lint/suspicious/noConsole: errors go to stderr, and there is nowhere else to tell them
  console.error(`@mcpx/server: error ${id}${place}:`, error)
}

/** The method, and the name of the tool or prompt, or the URI: `tools/call "search"`. */
export function describeRequest({ method, params }: ServerRequest): string {
  const { name, uri } = (params.ref ?? params) as JsonObject
  const target = name ?? uri
  return typeof target === 'string' ? `${method} ${quoted(target)}` : method
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
