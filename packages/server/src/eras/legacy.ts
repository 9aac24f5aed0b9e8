/** The legacy wire, answered: a handshake opens a session, whose record says everything else. */

import {
  type Awaitable,
  type Exchange,
  errorMessage,
  type InputRequiredResult,
  internalError,
  invalidParams,
  invalidRequest,
  isPromise,
  type JsonObject,
  methodNotFound,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
  requestEntry,
  resultMessage,
  stripFor,
} from '@mcpx/protocol'
import { RequestContext } from '../context.ts'
import { toAnswer } from '../faults.ts'
import { toResult } from '../features/result-error.ts'
import { isInputRequired } from '../input-required.ts'
import { settle } from '../settle.ts'
import { legacyFailure } from './legacy-errors.ts'
import { type LegacyCore, LegacyFacts } from './legacy-facts.ts'
import { initialize } from './legacy-handshake.ts'
import { sessionMethods } from './legacy-session.ts'
import { paramsProblem } from './params.ts'

export function answerLegacy(
  message: RequestMessage,
  exchange: Exchange,
  core: LegacyCore,
): Awaitable<ResponseMessage> {
  const { id, method } = message
  const params = withoutAnswers(message.params)
  const { session } = exchange
  if (session === undefined) return errorMessage(id, invalidRequest('There is no session: send "initialize" first'))
  if (method === 'initialize') return initialize(message, session, core)
  if (method === 'ping') return resultMessage(id, {})
  const { revision } = session.state
  if (revision === undefined) return errorMessage(id, invalidRequest('Not initialized: send "initialize" first'))
  const entry = requestEntry(revision, method)
  if (entry === undefined || entry.from === 'server') return errorMessage(id, methodNotFound(method))
  const problem = paramsProblem(core, revision, method, params)
  if (problem !== undefined) return errorMessage(id, invalidParams(problem))
  return run(message, params, new LegacyFacts(exchange, session, revision, core), 1)
}

/** Answers and state that come with a request belong to the other era: here a client could only forge them. */
function withoutAnswers(params: JsonObject = {}): JsonObject {
  if (!('inputResponses' in params || 'requestState' in params)) return params
  const { inputResponses, requestState, ...others } = params
  return others
}

export function hearLegacy(message: NotificationMessage, exchange: Exchange): Awaitable<undefined> {
  if (message.method !== 'notifications/initialized') return undefined
  if (exchange.session?.state.revision === undefined) return undefined
  return exchange.session.update((state) => void Object.assign(state, { initialized: true })) as Awaitable<undefined>
}

function run(
  message: RequestMessage,
  params: JsonObject,
  facts: LegacyFacts,
  round: number,
): Awaitable<ResponseMessage> {
  const { method } = message
  const ctx = new RequestContext(params, facts.exchange, facts)
  const own = Object.hasOwn(sessionMethods, method) ? sessionMethods[method] : undefined
  return settle<object, ResponseMessage>(
    () => (own === undefined ? facts.core.run({ method, params }, ctx) : own({ params, ctx, facts })),
    (given) => {
      const result = toResult(method, given)
      if (isInputRequired(result)) return again(message, params, result, facts, round)
      const answer = resultMessage(message.id, stripFor(facts.revision, method, result))
      const finishing = ctx.asker?.finish?.()
      return isPromise(finishing) ? finishing.then(() => answer) : answer
    },
    (error) => legacyFailure(message.id, method, toAnswer(error, ctx, facts.core.faults)),
  )
}

/**
 * Questions that a handler returned are asked here, and the handler is entered again with the answers. What was asked
 * and done in a straight line is remembered; what is asked by hand may be asked again under the same key.
 */
async function again(
  message: RequestMessage,
  params: JsonObject,
  { inputRequests = {}, requestState }: InputRequiredResult,
  facts: LegacyFacts,
  round: number,
): Promise<ResponseMessage> {
  if (round >= facts.core.limits.rounds) throw internalError(`The call asked for input ${round} times and did not end`)
  const asked = Object.entries(inputRequests).map(([key, request]) => [key, { request }] as const)
  const inputResponses = await facts.newAsker().ask(Object.fromEntries(asked))
  return run(message, { ...params, inputResponses, requestState }, facts, round + 1)
}
