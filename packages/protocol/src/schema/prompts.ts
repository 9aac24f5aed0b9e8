/** Prompts: message templates that a server offers to the user. */

import { ContentBlock } from './content.ts'
import { array, boolean, object, optional, record, type Shape, string } from './define.ts'
import { Icon, MetaObject, named, page, Role, requestParams, result } from './primitives.ts'

const promptArgument = () => ({
  ...named(),
  description: optional(string),
  /** Default: false. */
  required: optional(boolean),
})
/** A blank to fill in. */
export interface PromptArgument extends Shape<typeof promptArgument> {}
export const PromptArgument = /* @__PURE__ */ object<PromptArgument>(promptArgument)

const prompt = () => ({
  ...named(),
  description: optional(string),
  arguments: optional(array(PromptArgument)),
  icons: optional(array(Icon)),
  _meta: optional(MetaObject),
})
/** A prompt that a server offers. */
export interface Prompt extends Shape<typeof prompt> {}
export const Prompt = /* @__PURE__ */ object<Prompt>(prompt)

const promptMessage = () => ({ role: Role, content: ContentBlock })
/** One message of a prompt. */
export interface PromptMessage extends Shape<typeof promptMessage> {}
export const PromptMessage = /* @__PURE__ */ object<PromptMessage>(promptMessage)

const listPromptsResult = () => ({ ...page(), prompts: array(Prompt) })
/** One page of `prompts/list`. */
export interface ListPromptsResult extends Shape<typeof listPromptsResult> {}
export const ListPromptsResult = /* @__PURE__ */ object<ListPromptsResult>(listPromptsResult)

export const getPromptRequestParams = () => ({
  ...requestParams(),
  name: string,
  arguments: optional(record(string)),
})
/** Parameters of `prompts/get`. */
export interface GetPromptRequestParams extends Shape<typeof getPromptRequestParams> {}
export const GetPromptRequestParams = /* @__PURE__ */ object<GetPromptRequestParams>(getPromptRequestParams)

const getPromptResult = () => ({
  ...result(),
  description: optional(string),
  messages: array(PromptMessage),
})
/** A prompt with its blanks filled in. */
export interface GetPromptResult extends Shape<typeof getPromptResult> {}
export const GetPromptResult = /* @__PURE__ */ object<GetPromptResult>(getPromptResult)
