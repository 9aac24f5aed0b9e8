/** Completion: proposals for the value of a prompt argument or of a URI template variable. */

import { array, boolean, literal, object, optional, record, type Shape, string, union } from './define.ts'
import { Integer, named, requestParams, result } from './primitives.ts'

const promptReference = () => ({ type: literal('ref/prompt'), ...named() })
/** Names a prompt. */
export interface PromptReference extends Shape<typeof promptReference> {}
export const PromptReference = /* @__PURE__ */ object<PromptReference>(promptReference)

const resourceTemplateReference = () => ({
  type: literal('ref/resource'),
  /** A URI or a URI template. */
  uri: string,
})
/** Names a resource or a resource template. */
export interface ResourceTemplateReference extends Shape<typeof resourceTemplateReference> {}
export const ResourceTemplateReference = /* @__PURE__ */ object<ResourceTemplateReference>(resourceTemplateReference)

const argument = () => ({ name: string, value: string })
const context = () => ({ arguments: optional(record(string)) })
const completeRequestParams = () => ({
  ...requestParams(),
  ref: union([PromptReference, ResourceTemplateReference]),
  /** What is being filled in, and what was typed so far. */
  argument: object<Shape<typeof argument>>(argument),
  /** The arguments that are filled in already. */
  context: optional(object<Shape<typeof context>>(context)),
})
/** Parameters of `completion/complete`. */
export interface CompleteRequestParams extends Shape<typeof completeRequestParams> {}
export const CompleteRequestParams = /* @__PURE__ */ object<CompleteRequestParams>(completeRequestParams)

const completion = () => ({
  /** Best first, at most 100. */
  values: array(string),
  /** How many there are in all. */
  total: optional(Integer),
  hasMore: optional(boolean),
})
const completeResult = () => ({ ...result(), completion: object<Shape<typeof completion>>(completion) })
/** Proposals. */
export interface CompleteResult extends Shape<typeof completeResult> {}
export const CompleteResult = /* @__PURE__ */ object<CompleteResult>(completeResult)
