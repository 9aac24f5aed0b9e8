/** What may be asked of a client: a question that breaks a rule of the protocol never leaves. */

import {
  type CreateMessageRequestParams,
  CreateMessageRequestParams as CreateMessageShape,
  check,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  type InputRequest,
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
  // Whether the client takes tools at all is a matter of its capabilities, and is looked at with those.
  'sampling/createMessage': ({ params }) =>
    check(CreateMessageShape, params, 'params').problem ?? samplingProblem(params as CreateMessageRequestParams, true),
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
  const isUrl = isVisit(params)
  const { problem } = check<unknown>(isUrl ? ElicitRequestURLParams : ElicitRequestFormParams, params, 'params')
  if (problem !== undefined) return problem
  if (isUrl) {
    const { url } = params as ElicitRequestURLParams
    return URL.canParse(url) ? undefined : `params.url: ${quoted(url)} is no URL; it has to begin with a scheme`
  }
  const { properties, required = [] } = (params as ElicitRequestFormParams).requestedSchema
  const stray = required.findIndex((name) => !Object.hasOwn(properties, name))
  if (stray < 0) return undefined
  return `params.requestedSchema.required[${stray}]: there is no field ${quoted(required[stray] as string)}`
}

/** Whether the parameters of an elicitation ask for a visit to a URL, and not for a form. */
export function isVisit(params: unknown): boolean {
  return (params as { mode?: unknown } | undefined)?.mode === 'url'
}

/**
 * Sees to it that a key names one kind of question in a call, as an answer of one kind is none to another. `kinds` is
 * what the keys have named so far.
 */
export function claimKey(kinds: Map<string, string>, key: string, { method, params }: InputRequest): void {
  const kind = isVisit(params) ? `${method} url` : method
  const known = kinds.get(key) ?? kind
  if (known !== kind) {
    const detail = `${kind}, and before ${known}; give each question a key of its own`
    throw new QuestionError(`Question ${quoted(key)}: the key names a question of another kind in this call: ${detail}`)
  }
  kinds.set(key, kind)
}
