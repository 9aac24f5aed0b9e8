/** Checks the inferred types with the compiler; never run. */
import { expectTypeOf } from 'vitest'
import type { ClientRequests, ServerNotifications, ServerRequests } from '../method-schemas.ts'
import { check } from '../validate.ts'
import type {
  ElicitRequestParams,
  InputRequest,
  PrimitiveSchemaDefinition,
  SamplingMessage,
} from './client-features.ts'
import {
  CallToolRequestParams,
  type CallToolResult,
  type ContentBlock,
  type EmbeddedResource,
  type ResourceContents,
  type TextContent,
  type Tool,
} from './server-features.ts'
import type { ClientCapabilities, RequestMetaObject } from './shared.ts'

/** `type` narrows the union completely. */
export function narrowed(block: ContentBlock): string | undefined {
  switch (block.type) {
    case 'text':
      expectTypeOf(block).toEqualTypeOf<TextContent>()
      return block.text
    case 'image':
    case 'audio':
      return block.mimeType
    case 'resource_link':
      expectTypeOf(block.title).toEqualTypeOf<string | undefined>()
      return block.uri
    case 'resource':
      expectTypeOf(block).toEqualTypeOf<EmbeddedResource>()
      return 'text' in block.resource ? block.resource.text : block.resource.blob
    default:
      expectTypeOf(block).toEqualTypeOf<never>()
      return block
  }
}

export function narrowedElsewhere(
  ask: InputRequest,
  elicit: ElicitRequestParams,
  field: PrimitiveSchemaDefinition,
): void {
  if (ask.method === 'sampling/createMessage') expectTypeOf(ask.params.maxTokens).toEqualTypeOf<number>()
  if (elicit.mode === 'url') expectTypeOf(elicit.url).toEqualTypeOf<string>()
  else expectTypeOf(elicit.requestedSchema.properties).toEqualTypeOf<Record<string, PrimitiveSchemaDefinition>>()
  if (field.type === 'boolean') expectTypeOf(field.default).toEqualTypeOf<boolean | undefined>()
}

/** Misspelled members and values do not compile. */
export function misspelt(block: ContentBlock): void {
  // @ts-expect-error: no block has such a member
  block.txt
  // @ts-expect-error: nor is this a type of block
  if (block.type === 'txt') return
  // @ts-expect-error: `descripton`
  expectTypeOf<Tool>({ name: 'add', inputSchema: { type: 'object' }, descripton: 'Adds' })
  // @ts-expect-error: `inputSchema` must describe an object
  expectTypeOf<Tool>({ name: 'add', inputSchema: { type: 'string' } })
}

/** Values that handlers create, with `undefined` for absent members. */
export const tool: Tool = {
  name: 'add',
  title: undefined,
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  outputSchema: { anyOf: [{ type: 'string' }] },
  annotations: { readOnlyHint: true },
}
export const failed: CallToolResult = { content: [{ type: 'text', text: 'No.' }], isError: true }
export const nothing: CallToolResult = { content: [], structuredContent: null }
export const message: SamplingMessage = { role: 'user', content: { type: 'text', text: 'Hello' } }
export const turn: SamplingMessage = {
  role: 'assistant',
  content: [{ type: 'tool_use', id: '1', name: 'add', input: { a: 1 } }],
}
export const contents: ResourceContents[] = [
  { uri: 'a:b', text: 'c' },
  { uri: 'a:b', blob: 'YQ==' },
]
export const capabilities: ClientCapabilities = {
  sampling: {},
  elicitation: { url: {} },
  extensions: { 'com.example/x': { y: 1 } },
}

/** Metadata and arguments are open: every member can be read as unknown. */
export function open(meta: RequestMetaObject, params: CallToolRequestParams): void {
  expectTypeOf(meta.progressToken).toEqualTypeOf<string | number | undefined>()
  expectTypeOf(meta['com.example/trace']).toEqualTypeOf<unknown>()
  expectTypeOf(params.arguments?.a).toEqualTypeOf<unknown>()
}

/** A schema has a type with the same name. */
export function parsed(value: unknown): void {
  const { value: params, problem } = check(CallToolRequestParams, value)
  if (problem === undefined) expectTypeOf(params).toEqualTypeOf<CallToolRequestParams>()
  else expectTypeOf(problem).toEqualTypeOf<string>()
}

/** The method tables contain the types of requests and notifications. */
export function typed(client: ClientRequests, server: ServerRequests, told: ServerNotifications): void {
  expectTypeOf(client['tools/call'].params).toEqualTypeOf<CallToolRequestParams>()
  expectTypeOf(client['tools/list'].result.tools).toEqualTypeOf<Tool[]>()
  expectTypeOf(client.initialize.params.protocolVersion).toEqualTypeOf<string>()
  expectTypeOf(server['elicitation/create'].params).toEqualTypeOf<ElicitRequestParams>()
  expectTypeOf(told['notifications/message'].data).toEqualTypeOf<unknown>()
  // @ts-expect-error: clients do not send this request
  expectTypeOf(client['roots/list'])
}
