/** Completes a modern call that returned input requests: answers them and sends the call again. */

import { ConnectionError, type InputRequiredResult, type InputResponse, type JsonObject, pause } from '@mcpx/protocol'
import { forEachConcurrently, withSignal } from './async.ts'
import { DEFAULT_MAX_TIMEOUT, requestLabel, type ServerFacts, timeError } from './era.ts'
import {
  answerForCall,
  inputLimitError,
  MAX_CONCURRENT_INPUT,
  MAX_INPUT_REQUESTS,
  MAX_ROUNDS,
} from './input-requests.ts'
import type { InputRequestOrigin, RequestCallOptions } from './options.ts'
import type { ClientState } from './state.ts'

/** A call that is not complete yet. */
export interface UnfinishedCall {
  readonly state: ClientState
  readonly server: ServerFacts
  /** Aborted when the connection has ended. Its input requests then also end. */
  readonly closing: AbortSignal
  /** When the call was first sent, on the clock of `performance`. */
  readonly startTime: number
  readonly method: string
  readonly params: JsonObject
  readonly options: RequestCallOptions
  send(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject>
}

/** The first and the longest delay before a call without input requests is sent again, in ms. */
const FIRST_DELAY = 250
const LONGEST_DELAY = 5_000

/** Answers input requests and sends the call again until the result is complete. Resolves to this result. */
export async function answerInputRequests(first: InputRequiredResult, call: UnfinishedCall): Promise<JsonObject> {
  const { state, method, options, startTime, closing } = call
  const label = requestLabel(method, call.params)
  const maxRounds = state.options.maxRounds ?? MAX_ROUNDS
  const maxTimeout = options.maxTimeout ?? state.options.maxTimeout ?? DEFAULT_MAX_TIMEOUT
  /** The time that was spent on answering input requests, in ms. It does not count towards `maxTimeout`. */
  let answerTime = 0
  const timeLeft = () => maxTimeout - (performance.now() - startTime - answerTime)

  const answerRounds = async (signal: AbortSignal) => {
    let result = first as unknown as JsonObject
    for (let round = 0; result.resultType === 'input_required'; round += 1) {
      if (round === maxRounds) throw roundsError(label, maxRounds)
      const { inputRequests = {}, requestState } = result as unknown as InputRequiredResult
      let inputResponses: Record<string, InputResponse> | undefined
      if (Object.keys(inputRequests).length > 0) {
        const askedTime = performance.now()
        inputResponses = await answerAll(inputRequests, call, signal)
        answerTime += performance.now() - askedTime
      } else {
        await pause(Math.min(FIRST_DELAY * 2 ** round, LONGEST_DELAY, Math.max(timeLeft(), 0)), signal)
      }
      signal.throwIfAborted()
      if (timeLeft() <= 0) throw timeError(label, maxTimeout)
      const params = withAnswers(call.params, inputResponses, requestState)
      result = await call.send(method, params, { ...options, signal, maxTimeout: timeLeft() })
    }
    return result
  }
  return withSignal(label, options.signal, answerRounds, closing)
}

/** Returns the parameters of a call with the responses and the state of its last round, instead of earlier ones. */
export function withAnswers(
  params: JsonObject,
  inputResponses: object | undefined,
  requestState: string | undefined,
): JsonObject {
  const { inputResponses: _responses, requestState: _state, ...original } = params
  return {
    ...original,
    ...(inputResponses !== undefined && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  }
}

/** Resolves to the responses by the keys of their requests. The first failure ends the call. */
async function answerAll(
  inputRequests: NonNullable<InputRequiredResult['inputRequests']>,
  { state, method, params, options, server }: UnfinishedCall,
  signal: AbortSignal,
): Promise<Record<string, InputResponse>> {
  const origin: InputRequestOrigin = { server: server.info, signal }
  const label = requestLabel(method, params)
  const requests = Object.entries(inputRequests)
  const { maxInputRequests = MAX_INPUT_REQUESTS } = state.options
  if (requests.length > maxInputRequests) throw inputLimitError(label, requests.length, maxInputRequests)
  const responses: [string, InputResponse][] = []
  await forEachConcurrently(requests, MAX_CONCURRENT_INPUT, async ([name, request]) => {
    responses.push([
      name,
      await answerForCall({ label, state, onInputRequest: options.onInputRequest }, request, origin),
    ])
  })
  return Object.fromEntries(responses)
}

function roundsError(label: string, maxRounds: number): ConnectionError {
  const hint = 'Pass a larger maxRounds to connect if the server needs more rounds.'
  return new ConnectionError('limit', `${label} is still unfinished after ${maxRounds} rounds`, { hint })
}
