/** Who did what, when, and how it ended: one entry for each request. */

import { type Awaitable, ErrorCode, guarded, type JsonObject, RpcError } from '@mcpx/protocol'
import type { Asker } from '../asker.ts'
import { InputRequired, isInputRequired } from '../input-required.ts'
import type { Middleware, ServerRequest } from '../middleware.ts'
import type { ToolContext } from '../tool-context.ts'
import { isDeclined } from './declined.ts'
import { createRedaction, type Redaction } from './redaction.ts'

/**
 * - `ok`: it was answered.
 * - `error`: it was answered with an error of the protocol.
 * - `tool-error`: the tool failed, and said so in its result.
 * - `declined`: `approve()` kept the tool from running, as nobody said yes.
 * - `input-required`: the client has to answer questions first, and then comes back.
 * - `cancelled`: it failed after the caller had gone.
 */
export type AuditOutcome = 'ok' | 'error' | 'tool-error' | 'declined' | 'input-required' | 'cancelled'

export interface AuditEntry {
  /** When the request came, as an ISO 8601 moment. */
  readonly at: string
  readonly method: string
  /** The tool, the prompt or the URI it is about. */
  readonly target: string | undefined
  /** The principal, as established by a guard; nothing for anonymous callers. */
  readonly subject: string | undefined
  /** The OAuth client. */
  readonly clientId: string | undefined
  /** What the client calls itself; not to be trusted. */
  readonly client: { readonly name: string; readonly version: string } | undefined
  /** The arguments of a tool, a prompt or a completion: shortened, and without what looks like a secret. */
  readonly arguments: unknown
  readonly outcome: AuditOutcome
  /** The code of the error that the caller got. */
  readonly errorCode: number | undefined
  readonly durationMs: number
}

export interface AuditOptions {
  /**
   * Whether the value under a key is a secret. Default: `looksSecret`, which knows words such as password, token,
   * secret, cookie and authorization. Keys are looked at however deep they are.
   */
  readonly isSecret?: ((key: string) => boolean) | undefined
  /** How many characters of arguments an entry holds, about. Default: 4,096. The rest is marked as left out. */
  readonly maxLength?: number | undefined
  /** Hears of an entry that could not be written. Default: nobody does. */
  readonly onError?: ((error: unknown, entry: AuditEntry) => void) | undefined
}

/** Names and versions in an entry are cut to this length. */
const LONGEST_NAME = 200

/**
 * Writes an entry for each request. The answer does not wait for `write`, and does not change when it fails.
 *
 * ```ts
 * server.use(audit((entry) => sink.write(entry), { onError: (error) => logger.error(error) }))
 * ```
 */
export function audit(
  write: (entry: AuditEntry) => Awaitable<void>,
  options: AuditOptions = {},
): Middleware<ToolContext> {
  const redaction = createRedaction(options)
  const report = guarded(options.onError)
  const send = (entry: AuditEntry) => guarded(write, (error) => report(error, entry))(entry)
  return async (request, ctx, next) => {
    const start = performance.now()
    // Before the handler can change the arguments.
    const facts = factsOf(request, ctx, redaction)
    const end = (ending: Ending) => send({ ...facts, ...ending, durationMs: performance.now() - start })
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

function factsOf({ method, params }: ServerRequest, ctx: ToolContext, redaction: Redaction) {
  const { auth, client } = ctx
  const info = client.info && { name: cut(client.info.name), version: cut(client.info.version) }
  return {
    at: new Date().toISOString(),
    method,
    target: targetOf(params, redaction),
    subject: auth?.subject,
    clientId: auth?.clientId,
    client: info,
    arguments: redaction.value(argumentsOf(params)),
  }
}

function targetOf({ name, uri, ref }: JsonObject, redaction: Redaction): string | undefined {
  const { name: prompt, uri: template } = (ref ?? {}) as JsonObject
  const named = name ?? prompt
  if (typeof named === 'string') return cut(named)
  const address = uri ?? template
  return typeof address === 'string' ? cut(redaction.uri(address)) : undefined
}

/** Of a completion, what is being filled in counts as an argument like those that are filled in already. */
function argumentsOf({ arguments: given, argument, context }: JsonObject): unknown {
  if (typeof argument !== 'object' || argument === null) return given
  const { name, value } = argument as JsonObject
  return { ...((context as JsonObject | undefined)?.arguments as JsonObject | undefined), [String(name)]: value }
}

function cut(text: string): string {
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text
}

function endingOf(result: object, ctx: ToolContext): Ending {
  if (isInputRequired(result) || isUnfinished(ctx)) return { outcome: 'input-required', errorCode: undefined }
  const isFailure = 'isError' in result && result.isError === true
  if (!isFailure) return { outcome: 'ok', errorCode: undefined }
  const outcome = isDeclined(result) ? 'declined' : 'tool-error'
  return { outcome: ctx.signal.aborted ? 'cancelled' : outcome, errorCode: undefined }
}

function failureOf(error: unknown, ctx: ToolContext): Ending {
  if (error instanceof InputRequired || isUnfinished(ctx)) return { outcome: 'input-required', errorCode: undefined }
  const errorCode = error instanceof RpcError ? error.code : ErrorCode.InternalError
  return { outcome: ctx.signal.aborted ? 'cancelled' : 'error', errorCode }
}

/** A question that is open is what the client gets, whatever the handler made of it. */
function isUnfinished(ctx: ToolContext): boolean {
  return (ctx as { readonly asker?: Asker | undefined }).asker?.unfinished?.() !== undefined
}
