/** Questions on the modern wire: the request ends with them, and the handler is entered again with the answers. */

import {
  type Awaitable,
  check,
  type InputRequest,
  type InputRequiredResult,
  type InputResponse,
  type JsonObject,
  modernInputResponse,
  principalOf,
  type ResponseMessage,
  resultMessage,
} from '@mcpx/protocol'
import { type Asker, asJson, askedAgain, namedQuestions, once, type Question, usableQuestions } from '../asker.ts'
import { InputRequired } from '../input-required.ts'
import { claimKey, QuestionError } from '../questions.ts'
import type { StateBinding } from '../request-state.ts'
import type { ModernCall, ModernWay } from './modern-call.ts'
import { sealResult } from './modern-seal.ts'

/** What is sealed between two rounds of a call. */
interface CallState extends JsonObject {
  /** Answers that were accepted. */
  answers?: Record<string, unknown>
  /** What kind of question each of them answers. */
  kinds?: Record<string, string>
  /** Results of finished steps. */
  steps?: Record<string, unknown>
  /** What the handler gave along by hand. */
  own?: string
}

interface ModernAsker extends Asker {
  /** What is worth keeping until the next round. */
  readonly state: CallState
}

function openState({ core, params, message, exchange }: ModernCall): Promise<JsonObject> {
  return core.requestState.open(params.requestState as string, bindingOf({ message, params, exchange }))
}

function createAsker(call: ModernCall, opened: CallState = {}): ModernAsker {
  const answers: Record<string, unknown> = { ...opened.answers }
  const steps: Record<string, unknown> = { ...opened.steps }
  const running = new Map<string, Promise<unknown>>()
  const open: Record<string, InputRequest> = {}
  const kinds = new Map(Object.entries(opened.kinds ?? {}))
  let isBroken = false

  /** Takes this round's answer where there is one that fits, and otherwise notes down what is to be asked. */
  async function take(key: string, { request, check: fits }: Question): Promise<boolean> {
    if (Object.hasOwn(answers, key)) return true
    open[key] = request
    const given = (call.params.inputResponses ?? {}) as Record<string, InputResponse>
    if (!Object.hasOwn(given, key) || !isOfKind(call, request, given[key])) return false
    const response = given[key] as InputResponse
    const checked = fits === undefined ? { value: response } : await Promise.resolve(fits(response))
    if ('problem' in checked) {
      open[key] = askedAgain(request, checked.problem)
      return false
    }
    answers[key] = checked.value
    delete open[key]
    return true
  }

  function usable(questions: Readonly<Record<string, Question>>): [string, Question][] {
    try {
      const some = usableQuestions(questions, call.envelope.clientCapabilities, true)
      for (const [key, { request }] of some) claimKey(kinds, key, request)
      return some
    } catch (error) {
      isBroken ||= error instanceof QuestionError
      throw error
    }
  }

  return {
    named: namedQuestions,
    get state() {
      return { answers, steps, kinds: Object.fromEntries([...kinds].filter(([key]) => Object.hasOwn(answers, key))) }
    },
    async ask(asked) {
      const questions = usable(asked)
      const found = await Promise.all(questions.map(([key, question]) => take(key, question)))
      if (found.includes(false)) throw new InputRequired()
      return Object.fromEntries(questions.map(([key]) => [key, answers[key]]))
    },
    step<Result>(key: string, run: () => Awaitable<Result>) {
      if (Object.hasOwn(steps, key)) return Promise.resolve(steps[key] as Result)
      return once(running, key, async () => {
        steps[key] = asJson(key, await run())
        return steps[key]
      }) as Promise<Result>
    },
    unfinished() {
      // A fault of the author's is not put off until the other questions of the round are answered.
      if (isBroken || Object.keys(open).length === 0) return undefined
      return { resultType: 'input_required', inputRequests: open }
    },
  }
}

async function sealQuestions(
  call: ModernCall,
  result: InputRequiredResult,
  asker: Asker | undefined,
): Promise<ResponseMessage> {
  const { core, params, message, exchange, envelope } = call
  const requests = Object.entries(result.inputRequests ?? {}).map(([key, request]) => [key, { request }] as const)
  const usable = usableQuestions(Object.fromEntries(requests), envelope.clientCapabilities, true)
  const state: CallState = { ...(asker as ModernAsker | undefined)?.state }
  if (result.requestState !== undefined) state.own = result.requestState
  const sealed: JsonObject = { resultType: 'input_required' }
  if (usable.length > 0) sealed.inputRequests = Object.fromEntries(usable.map(([key, { request }]) => [key, request]))
  if (isWorthKeeping(state) || usable.length === 0) {
    sealed.requestState = await core.requestState.seal(state, bindingOf({ message, params, exchange }))
  }
  return resultMessage(message.id, sealResult(call, sealed))
}

function isWorthKeeping({ answers = {}, steps = {}, own }: CallState): boolean {
  return own !== undefined || Object.keys(answers).length > 0 || Object.keys(steps).length > 0
}

function isOfKind({ revision }: ModernCall, { method }: InputRequest, response: unknown): boolean {
  const schema = modernInputResponse(revision, method)
  return schema !== undefined && check(schema, response).problem === undefined
}

function bindingOf({ message, params, exchange }: Pick<ModernCall, 'message' | 'params' | 'exchange'>): StateBinding {
  return { subject: principalOf(exchange.auth), method: message.method, params }
}

export const modernWay: ModernWay = { open: openState, createAsker, seal: sealQuestions }
