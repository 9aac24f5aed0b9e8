/** How questions of a handler reach the client: each era has a way of its own. */

import {
  type Awaitable,
  type ClientCapabilities,
  type InputRequest,
  type InputRequiredResult,
  type InputResponse,
  internalError,
  type JsonObject,
  missingClientCapability,
} from '@mcpx/protocol'
import { elicit, openUrl, roots, sample } from './asks.ts'
import { checkQuestion, isVisit } from './questions.ts'

/** What is done with an answer: the value the handler gets, or why it is to be asked again. */
export type AnswerCheck = (response: InputResponse) => Awaitable<{ value: unknown } | { problem: string }>

export interface Question {
  readonly request: InputRequest
  /** Default: any answer of the right kind will do. */
  readonly check?: AnswerCheck
}

export const namedQuestions = { elicit, openUrl, sample, roots }

export interface Asker {
  /** How the questions are made that the context has a method for. */
  readonly named: typeof namedQuestions
  /**
   * The answers under the keys of the questions. What the client did not declare is not asked, and has no answer
   * here; when that leaves nothing, it rejects with what the client would have to declare.
   */
  ask(questions: Readonly<Record<string, Question>>): Promise<Readonly<Record<string, unknown>>>
  /** The result of a step, which runs once per call. */
  step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result>
  /** Questions that the client has yet to answer, as the result that asks them. */
  unfinished?(): InputRequiredResult | undefined
  /** Called when the call has ended well. */
  finish?(): Awaitable<void>
}

/** What a client must have declared to be asked this; nothing when it has. */
function missingFor(
  { method, ...request }: InputRequest,
  { elicitation, sampling, roots }: ClientCapabilities,
  declaresContext: boolean,
): JsonObject | undefined {
  const params = ('params' in request ? request.params : undefined) as JsonObject | undefined
  if (method === 'roots/list') return roots ? undefined : { roots: {} }
  if (method === 'elicitation/create') {
    if (isVisit(params)) return elicitation?.url ? undefined : { elicitation: { url: {} } }
    // An empty object means forms.
    return elicitation && (elicitation.form ?? !elicitation.url) ? undefined : { elicitation: { form: {} } }
  }
  if ((params?.tools ?? params?.toolChoice) !== undefined && !sampling?.tools) return { sampling: { tools: {} } }
  const { includeContext = 'none' } = params ?? {}
  if (includeContext !== 'none' && declaresContext && !sampling?.context) return { sampling: { context: {} } }
  return sampling ? undefined : { sampling: {} }
}

/**
 * Leaves the questions that this client can be asked. Throws when that is none, and for a question that is wrong.
 * `declaresContext`: whether its revision lets a client declare that it gives the context of servers; others just give it.
 */
export function usableQuestions(
  questions: Readonly<Record<string, Question>>,
  capabilities: ClientCapabilities,
  declaresContext: boolean,
): [string, Question][] {
  const missing: JsonObject = {}
  const all = Object.entries(questions)
  for (const [key, { request }] of all) checkQuestion(key, request)
  const usable = all.filter(([, { request }]) => {
    const lacking = missingFor(request, capabilities, declaresContext)
    for (const key in lacking) missing[key] = { ...(missing[key] as object), ...(lacking[key] as object) }
    return lacking === undefined
  })
  if (usable.length === 0 && all.length > 0) throw missingClientCapability(missing)
  return usable
}

/** The same question again; whoever fills in a form is told what was wrong with it. */
export function askedAgain(request: InputRequest, problem: string): InputRequest {
  const { method, params } = request as { method: string; params?: JsonObject }
  if (method !== 'elicitation/create' || isVisit(params)) return request
  return { ...request, params: { ...params, message: `${params?.message} (${problem})` } } as InputRequest
}

/** A step's result has to survive the way to the client and back. */
export function asJson(key: string, value: unknown): unknown {
  try {
    return value === undefined ? null : JSON.parse(JSON.stringify(value))
  } catch (cause) {
    throw internalError(`The result of step ${JSON.stringify(key)} cannot be written as JSON`, { cause })
  }
}

/** What was begun under a key is not begun again. */
export function once<Value>(
  begun: Map<string, Promise<Value>>,
  key: string,
  begin: () => Promise<Value>,
): Promise<Value> {
  const known = begun.get(key) ?? begin()
  begun.set(key, known)
  return known
}
