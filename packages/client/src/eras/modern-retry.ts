/** Carries on a call that came back unfinished: answers all that the server asks, then sends the call again. */

import {
  ConnectionError,
  ErrorCode,
  type InputRequiredResult,
  type InputResponse,
  type JsonObject,
  pause,
  RpcError,
} from '@mcpx/protocol'
import { withSignal } from '../cancellation.ts'
import type { Core } from '../core.ts'
import type { AskOrigin, RequestCallOptions } from '../options.ts'
import type { ServerFacts } from './era.ts'

export interface UnfinishedCall {
  readonly core: Core
  readonly server: ServerFacts
  /** When the call was first sent, on the clock of `performance`. */
  readonly begun: number
  readonly method: string
  readonly params: JsonObject
  readonly options: RequestCallOptions
  send(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject>
}

/** The first wait before a call is sent again that asked for nothing, and the longest, in ms. */
const FIRST_PAUSE = 250
const LONGEST_PAUSE = 5_000

/** The complete result. What one round was answered, and its state, never reach another call. */
export async function carryOn(first: InputRequiredResult, call: UnfinishedCall): Promise<JsonObject> {
  const { core, method, options, begun } = call
  const maxRounds = core.options.maxRounds ?? 10
  const maxTimeout = options.maxTimeout ?? core.maxTimeout
  /** How long questions have been answered, which is not the time of the call. */
  let thought = 0
  const left = () => maxTimeout - (performance.now() - begun - thought)
  return withSignal(method, options.signal, async (signal) => {
    let result: JsonObject = first as unknown as JsonObject
    for (let round = 0; result.resultType === 'input_required'; round += 1) {
      if (round === maxRounds) throw tooManyRounds(method, maxRounds)
      const unfinished = result as unknown as InputRequiredResult
      const asked = performance.now()
      const inputResponses = await answerAll(unfinished, call, signal)
      if (inputResponses !== undefined) thought += performance.now() - asked
      else await pause(Math.min(FIRST_PAUSE * 2 ** round, LONGEST_PAUSE, Math.max(left(), 0)), signal)
      signal.throwIfAborted()
      const timeLeft = left()
      if (timeLeft <= 0) throw tookTooLong(method, maxTimeout)
      const params = retryParams(call.params, inputResponses, unfinished.requestState)
      result = await call.send(method, params, { ...options, signal, maxTimeout: timeLeft })
    }
    return result
  })
}

function retryParams(params: JsonObject, inputResponses: object | undefined, requestState: string | undefined) {
  const { inputResponses: _answers, requestState: _state, ...original } = params
  return {
    ...original,
    ...(inputResponses !== undefined && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  }
}

/** All answers of one round, under the names of what was asked; nothing if nothing was. The first failure ends it. */
async function answerAll({ inputRequests = {} }: InputRequiredResult, call: UnfinishedCall, signal: AbortSignal) {
  const asked = Object.entries(inputRequests)
  if (asked.length === 0) return undefined
  const { core, method, options, server } = call
  const origin: AskOrigin = { server: server.info, signal }
  const answered = asked.map(async ([name, request]): Promise<[string, InputResponse]> => {
    try {
      const answer = options.onAsk?.(request, origin) ?? core.handlers.answer(request, origin)
      return [name, await answer]
    } catch (error) {
      throw signal.aborted ? error : unanswered(method, request.method, error)
    }
  })
  return Object.fromEntries(await Promise.all(answered))
}

function unanswered(method: string, asked: string, cause: unknown): ConnectionError {
  const code = cause instanceof RpcError ? cause.code : undefined
  if (code === ErrorCode.MethodNotFound || code === ErrorCode.InvalidParams) {
    const message = `${method} cannot go on: the server asks for ${asked} in a way that this client did not declare`
    return new ConnectionError('invalid-message', `${message}. ${(cause as RpcError).message}`, { cause })
  }
  return new ConnectionError('cancelled', `${method} was given up: ${asked} was not answered`, { cause })
}

function tookTooLong(method: string, maxTimeout: number): ConnectionError {
  const hint = 'Pass a longer maxTimeout with the call.'
  return new ConnectionError('timeout', `${method} is still unfinished after ${maxTimeout} ms`, { hint })
}

function tooManyRounds(method: string, maxRounds: number): ConnectionError {
  const hint = 'Pass a larger maxRounds if the server is right to ask that often.'
  return new ConnectionError('limit', `${method} is still unfinished after ${maxRounds} rounds`, { hint })
}
