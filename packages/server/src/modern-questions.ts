/** Questions of modern calls. The response contains them, and the handler runs again when the client sends the answers. */

import {
  type Awaitable,
  check,
  type InputRequest,
  type InputRequiredResult,
  type InputResponse,
  inputResponse,
  type JsonObject,
  principalOf,
  type Revision,
} from '@mcpx/protocol'
import { describeRequest, InputRequired, QuestionError } from './errors.ts'
import type { ModernCall } from './modern-call.ts'
import {
  type Asker,
  type ClaimedQuestions,
  checkAnswer,
  claimQuestions,
  type Question,
  type QuestionKinds,
  type Questions,
  repeatQuestion,
  startOnce,
  toStepResult,
} from './questions.ts'
import { MAX_STATE_LENGTH, type StateBinding } from './request-state.ts'

/** The state of a call between two runs of its handler. The client stores it, encrypted. */
export interface CallState extends JsonObject {
  /** The accepted answers. */
  answers?: Record<string, unknown>
  /** The kinds of the questions, by the same keys. */
  kinds?: Record<string, string>
  /** The results of finished steps. */
  steps?: Record<string, unknown>
  /** The state that the handler has passed to `inputRequired`. */
  own?: string
}

/** Decrypts the state in a call. Throws an `RpcError` if it was altered, has expired, or belongs to another call. */
export function openCallState(call: ModernCall): Promise<CallState> {
  return call.server.requestState.open(call.params.requestState as string, bindingOf(call))
}

export class ModernAsker implements Asker {
  readonly #call: ModernCall
  readonly #answers: Record<string, unknown>
  readonly #steps: Record<string, unknown>
  readonly #kinds: QuestionKinds
  readonly #runningSteps = new Map<string, Promise<unknown>>()
  readonly #openRequests: Record<string, InputRequest> = {}
  /** Whether a question is invalid. If so, the error is reported immediately, and the other questions are not sent. */
  #isBroken = false

  constructor(call: ModernCall, state: CallState = {}) {
    this.#call = call
    this.#answers = { ...state.answers }
    this.#steps = { ...state.steps }
    this.#kinds = new Map(Object.entries(state.kinds ?? {}))
  }

  /** The state for the next run. */
  get state(): CallState {
    const kinds = [...this.#kinds].filter(([key]) => Object.hasOwn(this.#answers, key))
    return { answers: this.#answers, steps: this.#steps, kinds: Object.fromEntries(kinds) }
  }

  async ask(questions: Questions, askedKeys: Set<string>): Promise<Readonly<Record<string, unknown>>> {
    const { usable, answered } = this.#claim(questions, askedKeys)
    const accepting = usable.map(([key, question]) => this.#acceptAnswer(key, question))
    const [others, areAnswered] = await Promise.all([answered, Promise.all(accepting)])
    if (areAnswered.includes(false)) throw new InputRequired()
    return { ...others, ...Object.fromEntries(usable.map(([key]) => [key, this.#answers[key]])) }
  }

  async step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result> {
    if (Object.hasOwn(this.#steps, key)) return this.#steps[key] as Result
    const result = startOnce(this.#runningSteps, key, async () => {
      this.#steps[key] = toStepResult(key, await run())
      return this.#steps[key]
    })
    return result as Promise<Result>
  }

  unfinished(): InputRequiredResult | undefined {
    if (this.#isBroken || Object.keys(this.#openRequests).length === 0) return undefined
    return { resultType: 'input_required', inputRequests: this.#openRequests }
  }

  #claim(questions: Questions, askedKeys: Set<string>): ClaimedQuestions {
    try {
      const { envelope, server } = this.#call
      const client = {
        capabilities: envelope.clientCapabilities,
        declaresContext: true,
        onUnsupported: server.onUnsupported,
      }
      return claimQuestions(questions, this.#kinds, askedKeys, client)
    } catch (error) {
      this.#isBroken ||= error instanceof QuestionError
      throw error
    }
  }

  /**
   * Accepts the answer that the client sent with this request, if it is valid; otherwise the question stays open.
   * Returns whether the question has an answer.
   */
  async #acceptAnswer(key: string, question: Question): Promise<boolean> {
    if (Object.hasOwn(this.#answers, key)) return true
    const { request } = question
    this.#openRequests[key] = request
    const { params, envelope } = this.#call
    const responses = (params.inputResponses ?? {}) as Record<string, InputResponse>
    const response = Object.hasOwn(responses, key) ? responses[key] : undefined
    if (response === undefined || !isResponseTo(request, response, envelope.protocolVersion as Revision)) return false
    const checked = await checkAnswer(question, response)
    if ('problem' in checked) {
      this.#openRequests[key] = repeatQuestion(request, checked.problem)
      return false
    }
    this.#answers[key] = checked.value
    delete this.#openRequests[key]
    return true
  }
}

/** Creates the result that asks the client, with the encrypted state of the call. */
export async function sealQuestions(
  call: ModernCall,
  result: InputRequiredResult,
  asker: ModernAsker | undefined,
): Promise<InputRequiredResult> {
  const { envelope, server } = call
  const requests = Object.entries(result.inputRequests ?? {}).map(([key, request]) => [key, { request }] as const)
  const client = { capabilities: envelope.clientCapabilities, declaresContext: true, onUnsupported: undefined }
  const { usable } = claimQuestions(Object.fromEntries(requests), new Map(), new Set(), client)
  const state: CallState = { ...asker?.state }
  if (result.requestState !== undefined) state.own = result.requestState
  const sealed: JsonObject = { resultType: 'input_required' }
  if (usable.length > 0) sealed.inputRequests = Object.fromEntries(usable.map(([key, { request }]) => [key, request]))
  if (holdsAnything(state) || usable.length === 0) {
    const sealedState = await server.requestState.seal(state, bindingOf(call))
    if (sealedState.length > MAX_STATE_LENGTH) {
      const problem = `expected at most ${MAX_STATE_LENGTH} characters, got ${sealedState.length}`
      throw new Error(
        `${describeRequest({ method: call.message.method, params: call.params })}, results of steps and answers: ${problem}; return less from steps`,
      )
    }
    sealed.requestState = sealedState
  }
  return sealed as unknown as InputRequiredResult
}

function holdsAnything({ answers = {}, steps = {}, own }: CallState): boolean {
  return own !== undefined || Object.keys(answers).length > 0 || Object.keys(steps).length > 0
}

function isResponseTo({ method }: InputRequest, response: unknown, revision: Revision): boolean {
  const schema = inputResponse(revision, method)
  return schema !== undefined && check(schema, response).problem === undefined
}

function bindingOf({ message, params, exchange }: ModernCall): StateBinding {
  return { subject: principalOf(exchange.auth), method: message.method, params }
}
