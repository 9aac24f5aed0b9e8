/** The features of clients: roots, sampling, elicitation, and the `input_required` results that request them. */

import * as z from 'zod/mini'
import { extend, list, record } from '../validate.ts'
import { AudioContent, ContentBlock, ImageContent, TextContent, Tool } from './server-features.ts'
import {
  AnyObject,
  Fraction,
  Integer,
  optionalFlag,
  optionalMeta,
  optionalText,
  RequestParams,
  Result,
  Role,
  text,
} from './shared.ts'

// Roots

export const Root = z.object({
  /** The folder as a `file:` URI. */
  uri: text,
  name: optionalText,
  _meta: optionalMeta,
})
/** A folder that a server may work in. */
export interface Root extends z.infer<typeof Root> {}

export const ListRootsRequest = z.object({ method: z.literal('roots/list'), params: z.optional(RequestParams) })
/** `roots/list` as an input request. */
export interface ListRootsRequest extends z.infer<typeof ListRootsRequest> {}

export const ListRootsResult = extend(Result, { roots: list<Root>(Root) })
/** The roots of the client. */
export interface ListRootsResult extends z.infer<typeof ListRootsResult> {}

// Sampling

export const ToolUseContent = z.object({
  type: z.literal('tool_use'),
  id: text,
  name: text,
  input: AnyObject,
  _meta: optionalMeta,
})
/** A tool call that the model requests. */
export interface ToolUseContent extends z.infer<typeof ToolUseContent> {}

export const ToolResultContent = z.object({
  type: z.literal('tool_result'),
  /** The `id` of the tool use. */
  toolUseId: text,
  content: list(ContentBlock),
  structuredContent: z.optional(z.unknown()),
  isError: optionalFlag,
  _meta: optionalMeta,
})
/** The result of a tool, for the model. */
export interface ToolResultContent extends z.infer<typeof ToolResultContent> {}

/** One block of a sampling message, distinguished by `type`. */
export type SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
export const SamplingMessageContentBlock: z.ZodMiniType<SamplingMessageContentBlock> = z.discriminatedUnion(
  'type',
  [TextContent, ImageContent, AudioContent, ToolUseContent, ToolResultContent],
  { unionFallback: true },
)

const samplingContent = z.union([SamplingMessageContentBlock, list(SamplingMessageContentBlock)])

export const SamplingMessage = z.object({ role: Role, content: samplingContent, _meta: optionalMeta })
/** One message of the conversation to continue. */
export interface SamplingMessage extends z.infer<typeof SamplingMessage> {}

export const ModelHint = z.object({
  /** A part of the name of a model, such as `sonnet`. */
  name: optionalText,
})
/** A preferred model. */
export interface ModelHint extends z.infer<typeof ModelHint> {}

export const ModelPreferences = z.object({
  /** Preferred models. The client uses the first one that it supports. */
  hints: z.optional(list<ModelHint>(ModelHint)),
  costPriority: z.optional(Fraction),
  speedPriority: z.optional(Fraction),
  intelligencePriority: z.optional(Fraction),
})
/** Preferences in the choice of a model. Each priority ranges from 0 to 1. */
export interface ModelPreferences extends z.infer<typeof ModelPreferences> {}

export const ToolChoice = z.object({
  /** Whether the model may (`auto`), must (`required`) or must not (`none`) use tools. Default: `auto`. */
  mode: z.optional(z.enum(['auto', 'required', 'none'])),
})
/** Whether the model may, must or must not use tools. */
export interface ToolChoice extends z.infer<typeof ToolChoice> {}

export const CreateMessageRequestParams = extend(RequestParams, {
  messages: list<SamplingMessage>(SamplingMessage),
  modelPreferences: z.optional(ModelPreferences),
  systemPrompt: optionalText,
  /**
   * The servers whose context the model receives. Default: `none`. The other values are deprecated, like sampling
   * itself.
   */
  includeContext: z.optional(z.enum(['none', 'thisServer', 'allServers'])),
  temperature: z.optional(z.number()),
  maxTokens: Integer,
  stopSequences: z.optional(list(text)),
  /** Metadata for the provider of the model. */
  metadata: z.optional(AnyObject),
  tools: z.optional(list<Tool>(Tool)),
  toolChoice: z.optional(ToolChoice),
})
/** Parameters of `sampling/createMessage`. */
export interface CreateMessageRequestParams extends z.infer<typeof CreateMessageRequestParams> {}

export const CreateMessageRequest = z.object({
  method: z.literal('sampling/createMessage'),
  params: CreateMessageRequestParams,
})
/** `sampling/createMessage` as an input request. */
export interface CreateMessageRequest extends z.infer<typeof CreateMessageRequest> {}

export const CreateMessageResult = extend(Result, {
  role: Role,
  content: samplingContent,
  /** The name of the model that generated the message. */
  model: text,
  /** Why the model has stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or another value of the provider. */
  stopReason: optionalText,
})
/** The message that the model generated. */
export interface CreateMessageResult extends z.infer<typeof CreateMessageResult> {}

/**
 * Checks the order and combination of blocks in the messages of a sampling request. Returns a sentence about the first
 * problem, or undefined.
 *
 * @param supportsTools whether the client declared `sampling.tools`
 */
export function samplingProblem(params: CreateMessageRequestParams, supportsTools: boolean): string | undefined {
  if (!supportsTools && (params.tools !== undefined || params.toolChoice !== undefined)) {
    return 'params.tools: the client did not declare sampling.tools'
  }
  let open = ''
  for (const [index, { role, content }] of params.messages.entries()) {
    const blocks = [content].flat()
    const results = blocks.filter((block) => block.type === 'tool_result')
    const uses = blocks.filter((block) => block.type === 'tool_use')
    const answered = sortedIds(results.map(({ toolUseId }) => toolUseId))
    const place = `params.messages[${index}].content`
    if (results.length > 0 && (role !== 'user' || results.length < blocks.length)) {
      return `${place}: tool results are allowed only in user messages without other blocks`
    }
    if (answered !== open) return `${place}: expected exactly the results of the preceding tool uses`
    if (uses.length > 0 && role !== 'assistant') return `${place}: tool uses are allowed only in assistant messages`
    open = sortedIds(uses.map(({ id }) => id))
  }
  return open === '' ? undefined : 'params.messages: the last tool uses have no results'
}

/** Returns a string that is equal for equal ids in any order. */
function sortedIds(ids: readonly string[]): string {
  return ids.length === 0 ? '' : JSON.stringify(ids.toSorted())
}

// Forms of elicitation: a small, flat part of JSON Schema

const Field = z.object({ title: optionalText, description: optionalText })
const SingleChoice = extend(Field, { type: z.literal('string'), default: optionalText })
const MultipleChoice = extend(Field, {
  type: z.literal('array'),
  minItems: z.optional(Integer),
  maxItems: z.optional(Integer),
  default: z.optional(list(text)),
})

export const StringSchema = extend(Field, {
  type: z.literal('string'),
  minLength: z.optional(Integer),
  maxLength: z.optional(Integer),
  format: z.optional(z.enum(['email', 'uri', 'date', 'date-time'])),
  default: optionalText,
})
/** A text field. */
export interface StringSchema extends z.infer<typeof StringSchema> {}

export const NumberSchema = extend(Field, {
  type: z.enum(['number', 'integer']),
  minimum: z.optional(z.number()),
  maximum: z.optional(z.number()),
  default: z.optional(z.number()),
})
/** A number field. */
export interface NumberSchema extends z.infer<typeof NumberSchema> {}

export const BooleanSchema = extend(Field, { type: z.literal('boolean'), default: optionalFlag })
/** A checkbox. */
export interface BooleanSchema extends z.infer<typeof BooleanSchema> {}

export const TitledOption = z.object({ const: text, title: text })
/** A value and the title to show for it. */
export interface TitledOption extends z.infer<typeof TitledOption> {}

export const UntitledSingleSelectEnumSchema = extend(SingleChoice, { enum: list(text) })
/** A single choice of values without titles. */
export interface UntitledSingleSelectEnumSchema extends z.infer<typeof UntitledSingleSelectEnumSchema> {}

export const TitledSingleSelectEnumSchema = extend(SingleChoice, { oneOf: list<TitledOption>(TitledOption) })
/** A single choice of values with titles. */
export interface TitledSingleSelectEnumSchema extends z.infer<typeof TitledSingleSelectEnumSchema> {}

export const UntitledMultiSelectEnumSchema = extend(MultipleChoice, {
  items: z.object({ type: z.literal('string'), enum: list(text) }),
})
/** A multiple choice of values without titles. */
export interface UntitledMultiSelectEnumSchema extends z.infer<typeof UntitledMultiSelectEnumSchema> {}

export const TitledMultiSelectEnumSchema = extend(MultipleChoice, {
  items: z.object({ anyOf: list<TitledOption>(TitledOption) }),
})
/** A multiple choice of values with titles. */
export interface TitledMultiSelectEnumSchema extends z.infer<typeof TitledMultiSelectEnumSchema> {}

export const LegacyTitledEnumSchema = extend(SingleChoice, {
  enum: list(text),
  /** The titles, in the order of `enum`. */
  enumNames: z.optional(list(text)),
})
/** A single choice with titles in the old form. Use `oneOf` instead. */
export interface LegacyTitledEnumSchema extends z.infer<typeof LegacyTitledEnumSchema> {}

/** A single or multiple choice. */
export type EnumSchema =
  | UntitledSingleSelectEnumSchema
  | TitledSingleSelectEnumSchema
  | UntitledMultiSelectEnumSchema
  | TitledMultiSelectEnumSchema
  | LegacyTitledEnumSchema
export const EnumSchema: z.ZodMiniType<EnumSchema> = z.union([
  LegacyTitledEnumSchema,
  UntitledSingleSelectEnumSchema,
  TitledSingleSelectEnumSchema,
  UntitledMultiSelectEnumSchema,
  TitledMultiSelectEnumSchema,
])

/** One field of a form. */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema
export const PrimitiveSchemaDefinition: z.ZodMiniType<PrimitiveSchemaDefinition> = z.union([
  StringSchema,
  NumberSchema,
  BooleanSchema,
  EnumSchema,
])

// Elicitation

export const RequestedSchema = z.object({
  $schema: optionalText,
  type: z.literal('object'),
  properties: record(PrimitiveSchemaDefinition),
  required: z.optional(list(text)),
})
/** The form: flat, with primitive values only. */
export interface RequestedSchema extends z.infer<typeof RequestedSchema> {}

export const ElicitRequestFormParams = extend(RequestParams, {
  /** The mode. A missing mode means `form`. */
  mode: z.optional(z.literal('form')),
  /** The message for the user. */
  message: text,
  requestedSchema: RequestedSchema,
})
/** Asks the user to fill in a form. Never request secrets with a form. */
export interface ElicitRequestFormParams extends z.infer<typeof ElicitRequestFormParams> {}

export const ElicitRequestURLParams = extend(RequestParams, {
  mode: z.literal('url'),
  /** The reason to visit the URL, for the user. */
  message: text,
  url: text,
})
/** Asks the user to visit a URL. */
export interface ElicitRequestURLParams extends z.infer<typeof ElicitRequestURLParams> {}

/** Parameters of `elicitation/create`, distinguished by `mode`. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams
export const ElicitRequestParams: z.ZodMiniType<ElicitRequestParams> = z.union([
  ElicitRequestFormParams,
  ElicitRequestURLParams,
])

export const ElicitRequest = z.object({ method: z.literal('elicitation/create'), params: ElicitRequestParams })
/** `elicitation/create` as an input request. */
export interface ElicitRequest extends z.infer<typeof ElicitRequest> {}

export const ElicitResult = extend(Result, {
  /**
   * The decision of the user. For a URL, `accept` means that the user agreed to open it, not that the visit is
   * complete.
   */
  action: z.enum(['accept', 'decline', 'cancel']),
  /** The values of the form, if the user accepted. */
  content: z.optional(record(z.union([text, z.number(), z.boolean(), list(text)]))),
})
/** The user's response. */
export interface ElicitResult extends z.infer<typeof ElicitResult> {}

// Results that request input

/** One input request, distinguished by `method`. */
export type InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest
export const InputRequest: z.ZodMiniType<InputRequest> = z.discriminatedUnion(
  'method',
  [CreateMessageRequest, ListRootsRequest, ElicitRequest],
  { unionFallback: true },
)

/** Input requests by keys that the server chose. */
export interface InputRequests extends Record<string, InputRequest> {}
export const InputRequests = record(InputRequest)

/** The response to one input request. Its type follows from the request with the same key. */
export type InputResponse = CreateMessageResult | ListRootsResult | ElicitResult
export const InputResponse: z.ZodMiniType<InputResponse> = z.union([CreateMessageResult, ListRootsResult, ElicitResult])

/** Responses by the keys of the input requests. */
export interface InputResponses extends Record<string, InputResponse> {}
export const InputResponses = record(InputResponse)

export const InputRequiredResult = extend(Result, {
  resultType: z.literal('input_required'),
  inputRequests: z.optional(InputRequests),
  /** State that the client sends back unchanged. */
  requestState: optionalText,
})
/**
 * A result that requests input. The client sends the request again, with the responses and the state. If there are no
 * input requests, it sends the request again later. At least one of `inputRequests` and `requestState` is present.
 */
export interface InputRequiredResult extends z.infer<typeof InputRequiredResult> {}

export const InputResponseParams = z.object({
  inputResponses: z.optional(InputResponses),
  /** The `requestState` of the previous result. Do not trust it: the client may have changed it. */
  requestState: optionalText,
})
/** The additional parameters of a request that is sent again after an `input_required` result. */
export interface InputResponseParams extends z.infer<typeof InputResponseParams> {}
