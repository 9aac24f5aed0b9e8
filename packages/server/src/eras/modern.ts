/** The modern wire, answered: every request says itself what it needs, and nothing is remembered between two. */

import {
  type Awaitable,
  claimsModern,
  ErrorCode,
  type Exchange,
  eraOf,
  errorMessage,
  internalError,
  invalidParams,
  isPromise,
  isRevision,
  type JsonObject,
  methodNotFound,
  modernRequest,
  type RequestMessage,
  type ResponseMessage,
  type RpcError,
  readEnvelope,
  resourceNotFound,
  resultMessage,
  revisionsOf,
  unsupportedVersion,
} from '@mcpx/protocol'
import { RequestContext } from '../context.ts'
import { toAnswer } from '../faults.ts'
import { toResult } from '../features/result-error.ts'
import { isInputRequired } from '../input-required.ts'
import { settle } from '../settle.ts'
import type { ModernCall, ModernCore } from './modern-call.ts'
import { discover } from './modern-discover.ts'
import { ModernFacts } from './modern-facts.ts'
import { listen } from './modern-listen.ts'
import { sealResult } from './modern-seal.ts'
import { paramsProblem } from './params.ts'

export function answerModern(
  message: RequestMessage,
  exchange: Exchange,
  core: ModernCore,
): Awaitable<ResponseMessage | undefined> {
  const { id, method, params = {} } = message
  if (method === 'initialize' && !claimsModern(message)) return errorMessage(id, wrongEra(params))
  const envelope = readEnvelope(params)
  if (typeof envelope === 'string') return errorMessage(id, invalidParams(envelope))
  const revision = envelope.protocolVersion
  if (!isRevision(revision) || eraOf(revision) !== 'modern') {
    return errorMessage(id, unsupportedVersion(revision, revisionsOf('modern')))
  }
  const entry = modernRequest(revision, method)
  if (entry === undefined) return errorMessage(id, methodNotFound(method))
  const problem = paramsProblem(core, revision, method, params)
  if (problem !== undefined) return errorMessage(id, invalidParams(problem))
  const call: ModernCall = { message, params, envelope, revision, entry, exchange, core }
  if (method === 'server/discover') return discover(call)
  if (method === 'subscriptions/listen') return listen(call)
  if (params.requestState === undefined) return run(call, undefined)
  return settle<JsonObject, ResponseMessage>(
    () => core.wire.ways.modern.open(call),
    (state) => run(call, state),
    (error) => errorMessage(id, toAnswer(error, undefined, core.faults)),
  )
}

/** A client of the other era may show the text alone: it names what is served. */
function wrongEra({ protocolVersion }: JsonObject): RpcError {
  return unsupportedVersion(typeof protocolVersion === 'string' ? protocolVersion : 'none', revisionsOf('modern'))
}

/** @param state what earlier rounds of this call have sealed. */
function run(call: ModernCall, state: JsonObject | undefined): Awaitable<ResponseMessage> {
  const { message, exchange, core } = call
  const { method } = message
  const params = state === undefined ? call.params : { ...call.params, requestState: state.own }
  const ctx = new RequestContext(params, exchange, new ModernFacts(call, state))
  try {
    const result = core.run({ method, params }, ctx)
    if (!isPromise(result)) return settled(call, ctx, result)
    return result.then(
      (late) => settled(call, ctx, late),
      (error) => answerFailure(call, ctx, error),
    )
  } catch (error) {
    return answerFailure(call, ctx, error)
  }
}

function settled(call: ModernCall, ctx: RequestContext, result: object): Awaitable<ResponseMessage> {
  try {
    const answered = answer(call, ctx, result)
    return isPromise(answered) ? answered.then(undefined, (error) => answerFailure(call, ctx, error)) : answered
  } catch (error) {
    return answerFailure(call, ctx, error)
  }
}

/** Whatever a handler makes of a missing answer, the question is what counts. */
function answer(call: ModernCall, ctx: RequestContext, given: object): Awaitable<ResponseMessage> {
  const { id, method } = call.message
  const result = toResult(method, ctx.asker?.unfinished?.() ?? given)
  if (!isInputRequired(result)) return resultMessage(id, sealResult(call, result))
  if (call.entry.mayAsk !== true) throw misplacedQuestion(method)
  return call.core.wire.ways.modern.seal(call, result, ctx.asker)
}

function answerFailure(call: ModernCall, ctx: RequestContext, error: unknown): Awaitable<ResponseMessage> {
  const fail = (problem: unknown) =>
    errorMessage(call.message.id, modernError(toAnswer(problem, ctx, call.core.faults)))
  const unfinished = ctx.asker?.unfinished?.()
  if (unfinished === undefined) return fail(error)
  return settle(
    () => answer(call, ctx, unfinished),
    (sealed) => sealed,
    fail,
  )
}

/** Only some results may ask; what else needs an answer has to get it from a tool, a prompt or a resource. */
function misplacedQuestion(method: string): Error {
  return new Error(`${method} cannot ask the client: only tools/call, prompts/get and resources/read can`)
}

/** Codes of the other era, and codes that the protocol keeps for itself, do not go out on this wire. */
function modernError(error: RpcError): RpcError {
  const { code, message, data } = error
  if (code === ErrorCode.ResourceNotFound) {
    const uri = (data as { uri?: unknown } | undefined)?.uri
    return typeof uri === 'string' ? resourceNotFound(uri, 'modern') : invalidParams(message, { data })
  }
  const isReserved = code <= ErrorCode.HeaderMismatch && code >= -32099 && !DEFINED.includes(code)
  return isReserved ? internalError(message, { data }) : error
}

const DEFINED: readonly number[] = [
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingRequiredClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
]
