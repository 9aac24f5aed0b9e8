/** Checks the parameters of a request against the shapes of its revision. */

import { check, type JsonObject, kindOf, type Revision } from '@mcpx/protocol'
import type { Core } from '../core.ts'
import { isObject } from '../features/subschemas.ts'

/** What is wrong with them, as one sentence. The most frequent request is looked at by hand. */
export function paramsProblem(core: Core, revision: Revision, method: string, params: JsonObject): string | undefined {
  if (method === 'tools/call' && params.inputResponses === undefined && params.requestState === undefined) {
    return toolCallProblem(params)
  }
  const schema = core.wire.paramsOf(revision, method)
  return schema && check(schema, params, 'params').problem
}

function toolCallProblem({ name, arguments: args, _meta }: JsonObject): string | undefined {
  if (typeof name !== 'string') return `params.name: expected string, got ${kindOf(name)}`
  if (args !== undefined && !isObject(args)) return `params.arguments: expected object, got ${kindOf(args)}`
  return _meta === undefined || isObject(_meta)
    ? tokenProblem(_meta)
    : `params._meta: expected object, got ${kindOf(_meta)}`
}

function tokenProblem(meta: object | undefined): string | undefined {
  const token = (meta as JsonObject | undefined)?.progressToken
  if (token === undefined || typeof token === 'string' || Number.isInteger(token)) return undefined
  return `params._meta.progressToken: expected string or integer, got ${kindOf(token)}`
}
