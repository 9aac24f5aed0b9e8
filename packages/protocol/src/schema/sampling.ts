/** Sampling: a server has the client's model write something. */

import { AudioContent, ContentBlock, ImageContent, TextContent } from './content.ts'
import { array, boolean, literal, number, object, optional, type Shape, string, union, unknown } from './define.ts'
import { Fraction, Integer, JsonObject, MetaObject, Role, requestParams, result } from './primitives.ts'
import { Tool } from './tools.ts'

const toolUseContent = () => ({
  type: literal('tool_use'),
  id: string,
  name: string,
  input: JsonObject,
  _meta: optional(MetaObject),
})
/** The model wants a tool called. */
export interface ToolUseContent extends Shape<typeof toolUseContent> {}
export const ToolUseContent = /* @__PURE__ */ object<ToolUseContent>(toolUseContent)

const toolResultContent = () => ({
  type: literal('tool_result'),
  /** The `id` of the block that asked for it. */
  toolUseId: string,
  content: array(ContentBlock),
  structuredContent: optional(unknown),
  isError: optional(boolean),
  _meta: optional(MetaObject),
})
/** What a tool gave back, for the model. */
export interface ToolResultContent extends Shape<typeof toolResultContent> {}
export const ToolResultContent = /* @__PURE__ */ object<ToolResultContent>(toolResultContent)

/** One block of a sampling message; `type` tells which. */
export type SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
export const SamplingMessageContentBlock = /* @__PURE__ */ union([
  TextContent,
  ImageContent,
  AudioContent,
  ToolUseContent,
  ToolResultContent,
])

const said = () => ({
  role: Role,
  content: union([SamplingMessageContentBlock, array(SamplingMessageContentBlock)]),
})
const samplingMessage = () => ({ ...said(), _meta: optional(MetaObject) })
/** One turn of the conversation to continue. */
export interface SamplingMessage extends Shape<typeof samplingMessage> {}
export const SamplingMessage = /* @__PURE__ */ object<SamplingMessage>(samplingMessage)

const modelHint = () => ({
  /** Part of a model's name, such as `sonnet`. */
  name: optional(string),
})
/** A wish for a model. */
export interface ModelHint extends Shape<typeof modelHint> {}
export const ModelHint = /* @__PURE__ */ object<ModelHint>(modelHint)

const modelPreferences = () => ({
  /** The first that the client can follow counts. */
  hints: optional(array(ModelHint)),
  costPriority: optional(Fraction),
  speedPriority: optional(Fraction),
  intelligencePriority: optional(Fraction),
})
/** What matters in choosing a model. Each priority runs from 0 to 1. */
export interface ModelPreferences extends Shape<typeof modelPreferences> {}
export const ModelPreferences = /* @__PURE__ */ object<ModelPreferences>(modelPreferences)

const toolChoice = () => ({
  /** Default: `auto`. */
  mode: optional(literal(['auto', 'required', 'none'])),
})
/** Whether the model may, must or must not use tools. */
export interface ToolChoice extends Shape<typeof toolChoice> {}
export const ToolChoice = /* @__PURE__ */ object<ToolChoice>(toolChoice)

export const createMessageRequestParams = () => ({
  ...requestParams(),
  messages: array(SamplingMessage),
  modelPreferences: optional(ModelPreferences),
  systemPrompt: optional(string),
  /** What to tell the model of servers. Default: `none`. The other two are deprecated, and leave with sampling itself. */
  includeContext: optional(literal(['none', 'thisServer', 'allServers'])),
  temperature: optional(number),
  maxTokens: Integer,
  stopSequences: optional(array(string)),
  /** Passed on to the provider of the model. */
  metadata: optional(JsonObject),
  tools: optional(array(Tool)),
  toolChoice: optional(ToolChoice),
})
/** Parameters of `sampling/createMessage`. */
export interface CreateMessageRequestParams extends Shape<typeof createMessageRequestParams> {}
export const CreateMessageRequestParams = /* @__PURE__ */ object<CreateMessageRequestParams>(createMessageRequestParams)

const createMessageRequest = () => ({
  method: literal('sampling/createMessage'),
  params: CreateMessageRequestParams,
})
/** Sampling as one of the things an unfinished request asks for. */
export interface CreateMessageRequest extends Shape<typeof createMessageRequest> {}
export const CreateMessageRequest = /* @__PURE__ */ object<CreateMessageRequest>(createMessageRequest)

const createMessageResult = () => ({
  ...result(),
  ...said(),
  /** The name of the model that wrote it. */
  model: string,
  /** `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a word of the provider. */
  stopReason: optional(string),
})
/** What the model wrote. */
export interface CreateMessageResult extends Shape<typeof createMessageResult> {}
export const CreateMessageResult = /* @__PURE__ */ object<CreateMessageResult>(createMessageResult)
