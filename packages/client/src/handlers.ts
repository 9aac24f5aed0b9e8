/** Answers what servers ask with the callbacks that were given; what there is no callback for is not declared. */

import {
  type ClientCapabilities,
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
import type { AskOrigin, ClientOptions, ElicitAsk } from './options.ts'

export interface Handlers {
  /** What the callbacks can do. */
  readonly capabilities: ClientCapabilities
  /** Answers one ask. Throws `RpcError` for what was not declared; what a callback throws passes through. */
  answer(request: InputRequest, origin: AskOrigin): Promise<InputResponse>
}

export function createHandlers(options: ClientOptions): Handlers {
  if (Array.isArray(options.roots)) checkRoots(options.roots)
  return {
    capabilities: declared(options),
    async answer(request, origin) {
      switch (request.method) {
        case 'elicitation/create':
          return elicit(options, request.params, origin)
        case 'sampling/createMessage':
          return sample(options, request.params, origin)
        case 'roots/list':
          return listRoots(options)
      }
    },
  }
}

function declared({ onElicit, onSample, roots, ...options }: ClientOptions): ClientCapabilities {
  const capabilities: ClientCapabilities = { ...options.capabilities }
  if (onElicit !== undefined) {
    capabilities.elicitation = Object.fromEntries(modesOf(options).map((mode) => [mode, {}]))
  }
  if (onSample !== undefined) {
    const { tools, context } = options.sampling ?? {}
    capabilities.sampling = { ...(tools && { tools: {} }), ...(context && { context: {} }) }
  }
  if (roots !== undefined) capabilities.roots = {}
  return capabilities
}

function modesOf({ elicitationModes = ['form', 'url'] }: ClientOptions): readonly ElicitAsk['mode'][] {
  return elicitationModes
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

function checkRoots(roots: readonly { uri: string }[]): void {
  roots.forEach(({ uri }, index) => {
    if (!/^file:\/\//i.test(uri) || !URL.canParse(uri)) {
      throw new TypeError(`roots[${index}].uri: expected a file: URI, got ${quoted(uri)}`)
    }
  })
}
