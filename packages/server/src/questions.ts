/** What may be asked of a client: a question that breaks a rule of the protocol never leaves. */

import {
  type CreateMessageRequestParams,
  CreateMessageRequestParams as CreateMessageShape,
  check,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  type InputRequest,
  type JsonObject,
  kindOf,
  ListRootsRequest,
  quoted,
  samplingProblem,
} from '@mcpx/protocol'

/** A fault of the server's author, so clients never see its message: what was to be asked cannot be asked. */
export class QuestionError extends Error {
  override readonly name = 'QuestionError'
}

const problems: Readonly<Record<string, (request: InputRequest) => string | undefined>> = {
  'elicitation/create': elicitationProblem,
  'sampling/createMessage': sampleProblem,
  'roots/list': (request) => check(ListRootsRequest, request).problem,
}

/** Throws a `QuestionError` that names the key, the place, and what is wrong there. */
export function checkQuestion(key: string, request: InputRequest): void {
  const problem = problemOf(request)
  if (problem !== undefined) throw new QuestionError(`Question ${quoted(key)}: ${problem}`)
}

function problemOf(request: InputRequest): string | undefined {
  if (typeof request !== 'object' || request === null) return `expected a request, got ${kindOf(request)}`
  const method: unknown = request.method
  if (typeof method === 'string' && Object.hasOwn(problems, method)) return problems[method]?.(request)
  const known = Object.keys(problems).join(', ')
  return `${typeof method === 'string' ? quoted(method) : kindOf(method)} cannot be asked; what can be is ${known}`
}

function elicitationProblem({ params }: InputRequest): string | undefined {
  const isUrl = (params as { mode?: unknown } | undefined)?.mode === 'url'
  const { problem } = check<unknown>(isUrl ? ElicitRequestURLParams : ElicitRequestFormParams, params, 'params')
  if (problem !== undefined) return problem
  return isUrl ? urlProblem(params as ElicitRequestURLParams) : formProblem(params as ElicitRequestFormParams)
}

function urlProblem({ url }: ElicitRequestURLParams): string | undefined {
  return URL.canParse(url) ? undefined : `params.url: ${quoted(url)} is no URL; it has to begin with a scheme`
}

function formProblem({ requestedSchema: { properties, required = [] } }: ElicitRequestFormParams): string | undefined {
  const stray = required.findIndex((name) => !Object.hasOwn(properties, name))
  if (stray < 0) return undefined
  return `params.requestedSchema.required[${stray}]: there is no field ${quoted(required[stray] as string)}`
}

function sampleProblem({ params }: InputRequest): string | undefined {
  // Whether the client takes tools at all is a matter of its capabilities, and is looked at with those.
  return (
    check(CreateMessageShape, params, 'params').problem ?? samplingProblem(params as CreateMessageRequestParams, true)
  )
}

/** What kind of answer a question gets; an answer of one kind is none to another. */
export function kindOfQuestion({ method, params }: InputRequest): string {
  return method === 'elicitation/create' && (params as JsonObject | undefined)?.mode === 'url'
    ? `${method} url`
    : method
}

/** Sees to it that a key names one kind of question in a call. `kinds` is what the keys have named so far. */
export function claimKey(kinds: Map<string, string>, key: string, request: InputRequest): void {
  const kind = kindOfQuestion(request)
  const known = kinds.get(key) ?? kind
  if (known !== kind) {
    const detail = `${kind}, and before ${known}; give each question a key of its own`
    throw new QuestionError(`Question ${quoted(key)}: the key names a question of another kind in this call: ${detail}`)
  }
  kinds.set(key, kind)
}
