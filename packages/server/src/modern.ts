/** Handles messages of the modern era. Each request contains its envelope, and the server keeps no state between requests. */

import {
  claimsModern,
  type Exchange,
  eraOf,
  errorMessage,
  invalidParams,
  isRevision,
  type JsonObject,
  methodNotFound,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
  type RpcError,
  readEnvelope,
  requestEntry,
  resultMessage,
  revisionsOf,
  unsupportedVersion,
} from '@mcpx/protocol'
import { RequestContext } from './context.ts'
import { paramsProblem, type ServerEra } from './era.ts'
import { missingDeclaration } from './extensions.ts'
import { createClientAccess, finishResult, type ModernCall, toModernError } from './modern-call.ts'
import { type ModernAsker, openCallState, sealQuestions } from './modern-questions.ts'
import { isInputRequired, toResult } from './results.ts'
import { openSubscription } from './subscriptions.ts'

/** Returns whether a message belongs to this era: a request with an envelope, or a notification without a session. */
export function isModern(message: RequestMessage | NotificationMessage, { session }: Exchange): boolean {
  return 'id' in message ? claimsModern(message) : session === undefined
}

export const modern: ServerEra = {
  async handle(message, exchange, server) {
    // The modern era has no client notifications for the server; transports handle cancellation.
    if (!('id' in message)) return undefined
    const { id, method, params = {} } = message
    if (method === 'initialize' && !claimsModern(message)) return errorMessage(id, wrongEraError(params))
    const envelope = exchange.envelope ?? readEnvelope(params)
    if (typeof envelope === 'string') return errorMessage(id, invalidParams(envelope))
    const revision = envelope.protocolVersion
    if (!isRevision(revision) || eraOf(revision) !== 'modern') {
      return errorMessage(id, unsupportedVersion(revision, revisionsOf('modern')))
    }
    // Only an extension can have a method that is not in the tables of the protocol.
    const own = requestEntry(revision, method)
    const added = own === undefined ? server.extensions?.find(method, revision) : undefined
    const entry = own ?? added
    if (entry === undefined) return errorMessage(id, methodNotFound(method))
    const missing = added && missingDeclaration(added, envelope.clientCapabilities)
    if (missing !== undefined) return errorMessage(id, missing)
    const problem = paramsProblem(revision, method, params)
    if (problem !== undefined) return errorMessage(id, invalidParams(problem))
    const call: ModernCall = { message, params, envelope, entry, exchange, server }
    if (method === 'server/discover') return discover(call)
    if (method === 'subscriptions/listen') return openSubscription(call)
    return await answer(call)
  },
}

/** Creates the error for a legacy handshake. Its message names the revisions, because some clients show only the message. */
function wrongEraError({ protocolVersion }: JsonObject): RpcError {
  return unsupportedVersion(typeof protocolVersion === 'string' ? protocolVersion : 'none', revisionsOf('modern'))
}

function discover(call: ModernCall): ResponseMessage {
  const { instructions } = call.server
  const result = { supportedVersions: revisionsOf('modern'), capabilities: call.server.capabilitiesIn('modern') }
  const whole = instructions === undefined ? result : { ...result, instructions }
  return resultMessage(call.message.id, finishResult(call, whole))
}

/** Runs the handler. Returns its result, or the questions that the client has to answer first. */
async function answer(call: ModernCall): Promise<ResponseMessage> {
  const { message, params, entry, exchange, server } = call
  const { id, method } = message
  let request = { method, params }
  let ctx: RequestContext | undefined
  try {
    const isRepeated = entry.mayAsk === true && params.requestState !== undefined
    const state = isRepeated ? await openCallState(call) : undefined
    if (state !== undefined) request = { method, params: { ...params, requestState: state.own } }
    ctx = new RequestContext(request.params, exchange, createClientAccess(call, state))
    let returned: unknown
    try {
      returned = await server.run(request, ctx)
    } catch (error) {
      if (ctx.asker?.unfinished?.() === undefined) throw error
    }
    // If a handler replaced our error with its own, the open input requests are still returned.
    const result = toResult(request, ctx.asker?.unfinished?.() ?? returned)
    if (!isInputRequired(result)) return resultMessage(id, finishResult(call, result))
    if (entry.mayAsk !== true) {
      throw new Error(
        `${method} cannot ask the client: only tools/call, prompts/get, resources/read and methods of extensions with \`mayAsk\` can`,
      )
    }
    const questions = await sealQuestions(call, result, ctx.asker as ModernAsker | undefined)
    return resultMessage(id, finishResult(call, questions))
  } catch (error) {
    return errorMessage(id, toModernError(server.faults.toRpcError(error, ctx, request), server))
  }
}
