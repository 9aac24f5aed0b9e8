/** Tools: how a server describes them, and how one is called. */

import { ContentBlock } from './content.ts'
import { array, boolean, literal, object, optional, type Shape, string, unknown } from './define.ts'
import { Icon, JsonObject, MetaObject, named, page, requestParams, result } from './primitives.ts'

const toolAnnotations = () => ({
  title: optional(string),
  /** Changes nothing. Default: false. */
  readOnlyHint: optional(boolean),
  /** May destroy something, as opposed to only adding. Default: true. */
  destructiveHint: optional(boolean),
  /** Calling it again with the same arguments changes nothing more. Default: false. */
  idempotentHint: optional(boolean),
  /** Deals with a world outside of the server. Default: true. */
  openWorldHint: optional(boolean),
})
/** What a tool says of itself; hints, not promises. */
export interface ToolAnnotations extends Shape<typeof toolAnnotations> {}
export const ToolAnnotations = /* @__PURE__ */ object<ToolAnnotations>(toolAnnotations)

const outputSchema = () => ({ $schema: optional(string) })
/** A JSON Schema, of the 2020-12 dialect unless `$schema` says otherwise. */
export interface ToolOutputSchema extends JsonObject, Shape<typeof outputSchema> {}
export const ToolOutputSchema = /* @__PURE__ */ object<ToolOutputSchema>(outputSchema)

const inputSchema = () => ({ ...outputSchema(), type: literal('object') })
/** A JSON Schema that describes an object. */
export interface ToolInputSchema extends JsonObject, Shape<typeof inputSchema> {}
export const ToolInputSchema = /* @__PURE__ */ object<ToolInputSchema>(inputSchema)

export const tool = () => ({
  ...named(),
  description: optional(string),
  inputSchema: ToolInputSchema,
  /** What `structuredContent` of its results looks like. */
  outputSchema: optional(ToolOutputSchema),
  annotations: optional(ToolAnnotations),
  icons: optional(array(Icon)),
  _meta: optional(MetaObject),
})
/** A tool that a server offers. */
export interface Tool extends Shape<typeof tool> {}
export const Tool = /* @__PURE__ */ object<Tool>(tool)

const listToolsResult = () => ({ ...page(), tools: array(Tool) })
/** One page of `tools/list`. */
export interface ListToolsResult extends Shape<typeof listToolsResult> {}
export const ListToolsResult = /* @__PURE__ */ object<ListToolsResult>(listToolsResult)

export const callToolRequestParams = () => ({
  ...requestParams(),
  name: string,
  arguments: optional(JsonObject),
})
/** Parameters of `tools/call`. */
export interface CallToolRequestParams extends Shape<typeof callToolRequestParams> {}
export const CallToolRequestParams = /* @__PURE__ */ object<CallToolRequestParams>(callToolRequestParams)

const callToolResult = () => ({
  ...result(),
  /** For the model. */
  content: array(ContentBlock),
  /** For programs: any JSON value, `null` and `0` included. */
  structuredContent: optional(unknown),
  /** The tool failed and `content` says why. Default: false. */
  isError: optional(boolean),
})
/** What a tool gave back, be it a success or a failure. */
export interface CallToolResult extends Shape<typeof callToolResult> {}
export const CallToolResult = /* @__PURE__ */ object<CallToolResult>(callToolResult)
