/** `audit`: writes one entry for each request, with secrets removed. */

import {
  type Awaitable,
  type Context,
  checkNumbers,
  ErrorCode,
  guarded,
  type JsonObject,
  type RedactOptions,
  RpcError,
  redact,
  redactUri,
} from '@mcpx/protocol'
import { InputRequired } from '../errors.ts'
import type { Middleware, ServerRequest } from '../middleware.ts'
import type { Asker } from '../questions.ts'
import { checkOptionNames } from '../registration.ts'
import { isInputRequired } from '../results.ts'
import { isDeclined } from './approve.ts'

/**
 * The outcome of a request:
 * - `ok`: the request succeeded.
 * - `error`: the response is a protocol error.
 * - `tool-error`: the tool failed; its result has `isError`.
 * - `declined`: `approve()` refused the call.
 * - `input-required`: the response asks questions; the client sends the request again with the answers.
 * - `cancelled`: the request failed after the client cancelled it.
 */
export type AuditOutcome = 'ok' | 'error' | 'tool-error' | 'declined' | 'input-required' | 'cancelled'

/** The record of one request. */
export interface AuditEntry {
  /** When the request arrived, in ISO 8601. */
  readonly at: string
  /** The method of the request. */
  readonly method: string
  /** The tool, prompt or URI. */
  readonly target: string | undefined
  /** The authenticated principal. Undefined for anonymous callers. */
  readonly subject: string | undefined
  /** The id of the OAuth client. */
  readonly clientId: string | undefined
  /** The name and version that the client sent. They are not authenticated. */
  readonly client: { readonly name: string; readonly version: string } | undefined
  /** The arguments of a tool, prompt or completion, shortened and without secrets. */
  readonly arguments: unknown
  /** How the request ended. */
  readonly outcome: AuditOutcome
  /** The code of the protocol error. */
  readonly errorCode: number | undefined
  /** How long the request took, in ms. */
  readonly duration: number
}

/** Options of `audit`. */
export interface AuditOptions {
  /**
   * Returns whether the value of a key is secret. Called for keys at any depth. Default: `looksSecret`, which recognizes
   * words such as password, token, secret, cookie and authorization.
   */
  readonly isSecret?: RedactOptions['isSecret']
  /**
   * The approximate largest length of the arguments in an entry, in characters. Longer arguments are shortened and
   * marked. Default: 4,096.
   */
  readonly maxLength?: number | undefined
  /** Called when an entry could not be written. Default: none. */
  readonly onError?: ((error: unknown, entry: AuditEntry) => void) | undefined
}

/** Longer names and versions are cut. */
const LONGEST_NAME = 200

/**
 * Creates a middleware that writes an entry for each request. The response neither waits for `write` nor depends on its
 * success.
 *
 * ```ts
 * server.use(audit((entry) => sink.write(entry), { onError: (error) => logger.error(error) }))
 * ```
 */
export function audit(write: (entry: AuditEntry) => Awaitable<void>, options: AuditOptions = {}): Middleware {
  checkOptionNames('audit', options, ['isSecret', 'maxLength', 'onError'] satisfies (keyof AuditOptions)[])
  const { isSecret, maxLength } = options
  checkNumbers('audit: ', { maxLength })
  const report = guarded(options.onError)
  const send = (entry: AuditEntry) => guarded(write, (error) => report(error, entry))(entry)
  return async (request, ctx, next) => {
    const start = performance.now()
    // Copy the arguments before the handler runs, because it might change them.
    const args = redact(argumentsOf(request.params), { isSecret, maxLength })
    const facts = { ...factsOf(request, ctx, isSecret), arguments: args }
    const end = (ending: Ending) => send({ ...facts, ...ending, duration: performance.now() - start })
    try {
      const result = await next()
      end(endingOf(result, ctx))
      return result
    } catch (error) {
      end(failureOf(error, ctx))
      throw error
    }
  }
}

type Ending = Pick<AuditEntry, 'outcome' | 'errorCode'>

function factsOf({ method, params }: ServerRequest, ctx: Context, isSecret: AuditOptions['isSecret']) {
  const { auth, client } = ctx
  const info = client.info && { name: cut(client.info.name), version: cut(client.info.version) }
  return {
    at: new Date().toISOString(),
    method,
    target: targetOf(params, isSecret),
    subject: auth?.subject,
    clientId: auth?.clientId,
    client: info,
  }
}

function targetOf({ name, uri, ref }: JsonObject, isSecret: AuditOptions['isSecret']): string | undefined {
  const { name: prompt, uri: template } = (ref ?? {}) as JsonObject
  const named = name ?? prompt
  if (typeof named === 'string') return cut(named)
  const address = uri ?? template
  return typeof address === 'string' ? cut(redactUri(address, isSecret)) : undefined
}

/** Returns the arguments of a request. For a completion, they include the argument that is being completed. */
function argumentsOf({ arguments: given, argument, context }: JsonObject): unknown {
  if (typeof argument !== 'object' || argument === null) return given
  const { name, value } = argument as JsonObject
  return { ...((context as JsonObject | undefined)?.arguments as JsonObject | undefined), [String(name)]: value }
}

function cut(text: string): string {
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text
}

function endingOf(result: object, ctx: Context): Ending {
  if (isInputRequired(result) || isUnfinished(ctx)) return { outcome: 'input-required', errorCode: undefined }
  const isFailure = 'isError' in result && result.isError === true
  if (!isFailure) return { outcome: 'ok', errorCode: undefined }
  const outcome = isDeclined(result) ? 'declined' : 'tool-error'
  return { outcome: ctx.signal.aborted ? 'cancelled' : outcome, errorCode: undefined }
}

function failureOf(error: unknown, ctx: Context): Ending {
  if (error instanceof InputRequired || isUnfinished(ctx)) return { outcome: 'input-required', errorCode: undefined }
  const errorCode = error instanceof RpcError ? error.code : ErrorCode.InternalError
  return { outcome: ctx.signal.aborted ? 'cancelled' : 'error', errorCode }
}

/**
 * Returns whether the response contains questions. Questions are sent even if the handler returned a result or threw an
 * error.
 */
function isUnfinished(ctx: Context): boolean {
  return (ctx as { readonly asker?: Asker | undefined }).asker?.unfinished?.() !== undefined
}
