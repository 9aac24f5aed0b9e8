/** Answers one question of a server with the callback for it. */

import {
  type CreateMessageRequestParams,
  type ElicitRequestParams,
  type ElicitResult,
  formProblem,
  type InputRequest,
  type InputResponse,
  invalidParams,
  type ListRootsResult,
  methodNotFound,
  quoted,
  samplingProblem,
  withFormDefaults,
} from '@mcpx/protocol'
import { checkRoots, modesOf } from './declared.ts'
import type { AskOrigin, ClientOptions } from './options.ts'

/** Throws `RpcError` for what was not declared; what a callback throws passes through. */
export async function answerAsk(
  options: ClientOptions,
  request: InputRequest,
  origin: AskOrigin,
): Promise<InputResponse> {
  switch (request.method) {
    case 'elicitation/create':
      return elicit(options, request.params, origin)
    case 'sampling/createMessage':
      return sample(options, request.params, origin)
    case 'roots/list':
      return listRoots(options)
  }
}

async function elicit(options: ClientOptions, params: ElicitRequestParams, origin: AskOrigin): Promise<ElicitResult> {
  const { onElicit } = options
  if (onElicit === undefined) throw methodNotFound('elicitation/create')
  const mode = params.mode ?? 'form'
  if (!modesOf(options).includes(mode)) throw invalidParams(`params.mode: the client did not declare ${quoted(mode)}`)
  if (params.mode === 'url') {
    const { message, url } = params
    const { action } = await onElicit({ mode: 'url', message, url, ...origin })
    return { action }
  }
  const { message, requestedSchema: schema } = params
  const { action, content } = await onElicit({ mode: 'form', message, schema, ...origin })
  if (action !== 'accept') return { action }
  const filled = withFormDefaults(schema, content)
  const problem = formProblem(schema, filled)
  if (problem !== undefined) throw new TypeError(`onElicit gave values that do not fit the form. ${problem}`)
  return { action, content: filled as NonNullable<ElicitResult['content']> }
}

async function sample(options: ClientOptions, params: CreateMessageRequestParams, origin: AskOrigin) {
  const { onSample, sampling } = options
  if (onSample === undefined) throw methodNotFound('sampling/createMessage')
  const problem = samplingProblem(params, sampling?.tools === true)
  if (problem !== undefined) throw invalidParams(problem)
  return onSample(params, origin)
}

async function listRoots({ roots }: ClientOptions): Promise<ListRootsResult> {
  if (roots === undefined) throw methodNotFound('roots/list')
  const list = typeof roots === 'function' ? await roots() : roots
  checkRoots(list)
  return { roots: [...list] }
}
