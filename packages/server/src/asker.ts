/** How questions of a handler reach the client: each era has a way of its own. */

import {
  type Awaitable,
  type ClientCapabilities,
  hasCapability,
  type InputRequest,
  type InputRequiredResult,
  type InputResponse,
  internalError,
  type JsonObject,
  missingClientCapability,
  type Revision,
} from '@mcpx/protocol'
import { checkQuestion } from './questions.ts'

/** What is done with an answer: the value the handler gets, or why it is to be asked again. */
export type AnswerCheck = (response: InputResponse) => Awaitable<{ value: unknown } | { problem: string }>

export interface Question {
  readonly request: InputRequest
  /** Default: any answer of the right kind will do. */
  readonly check?: AnswerCheck
}

export interface Asker {
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
export function missingFor(
  { method, ...request }: InputRequest,
  capabilities: ClientCapabilities,
  revision: Revision,
): JsonObject | undefined {
  const { elicitation, sampling, roots } = capabilities
  const params: object = 'params' in request ? (request.params ?? {}) : {}
  if (method === 'elicitation/create') {
    const isUrl = 'mode' in params && params.mode === 'url'
    if (isUrl) return elicitation?.url === undefined ? { elicitation: { url: {} } } : undefined
    // An empty object means forms.
    const takesForms = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
    return takesForms ? undefined : { elicitation: { form: {} } }
  }
  if (method === 'roots/list') return roots === undefined ? { roots: {} } : undefined
  const needsTools = 'tools' in params || 'toolChoice' in params
  if (needsTools && sampling?.tools === undefined) return { sampling: { tools: {} } }
  if (needsContext(params, revision) && sampling?.context === undefined) return { sampling: { context: {} } }
  return sampling === undefined ? { sampling: {} } : undefined
}

/** Older revisions let a client give the context of servers, but not say that it does. */
function needsContext({ includeContext = 'none' }: { includeContext?: unknown }, revision: Revision): boolean {
  return includeContext !== 'none' && hasCapability(revision, 'client', 'sampling.context')
}

/** Leaves the questions that this client can be asked. Throws when that is none, and for a question that is wrong. */
export function usableQuestions(
  questions: Readonly<Record<string, Question>>,
  capabilities: ClientCapabilities,
  revision: Revision,
): [string, Question][] {
  const missing: JsonObject[] = []
  for (const [key, { request }] of Object.entries(questions)) checkQuestion(key, request)
  const usable = Object.entries(questions).filter(([, { request }]) => {
    const lacking = missingFor(request, capabilities, revision)
    if (lacking !== undefined) missing.push(lacking)
    return lacking === undefined
  })
  if (usable.length === 0 && missing.length > 0) throw missingClientCapability(mergeCapabilities(missing))
  return usable
}

function mergeCapabilities(all: readonly JsonObject[]): JsonObject {
  const merged: JsonObject = {}
  for (const each of all) {
    for (const [key, value] of Object.entries(each)) merged[key] = { ...(merged[key] as object), ...(value as object) }
  }
  return merged
}

/** The same question again; whoever fills in a form is told what was wrong with it. */
export function askedAgain(request: InputRequest, problem: string): InputRequest {
  const params = 'params' in request ? (request.params as JsonObject | undefined) : undefined
  if (request.method !== 'elicitation/create' || params?.mode === 'url') return request
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
