/** Results of a mounted handler as the outside sees them. What stays as it is is not copied. */

import {
  type CallToolResult,
  type ContentBlock,
  type GetPromptResult,
  type InputRequiredResult,
  isTextKept,
  keepText,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  type ReadResourceResult,
  type Tool,
} from '@mcpx/protocol'
import type { Prefix } from './prefix.ts'

type Mapping<Value> = (value: Value) => Value

/** One function for each kind of result; a kept result is mapped once, and the mapped one is kept as well. */
export interface ResultMappings {
  readonly tools: Mapping<ListToolsResult>
  readonly prompts: Mapping<ListPromptsResult>
  readonly resources: Mapping<ListResourcesResult>
  readonly templates: Mapping<ListResourceTemplatesResult>
  readonly toolResult: Mapping<CallToolResult | InputRequiredResult>
  readonly prompt: Mapping<GetPromptResult | InputRequiredResult>
  readonly contents: Mapping<ReadResourceResult | InputRequiredResult>
}

export function createResultMappings({ addToName, addToUri }: Prefix): ResultMappings {
  const block = (each: ContentBlock) => mapBlock(each, addToUri)
  return {
    tools: once((result) => ({
      ...result,
      tools: result.tools.map((tool) => mapView({ ...tool, name: addToName(tool.name) }, addToUri)),
    })),
    prompts: once((result) => ({
      ...result,
      prompts: result.prompts.map((prompt) => ({ ...prompt, name: addToName(prompt.name) })),
    })),
    resources: once((result) => ({
      ...result,
      resources: result.resources.map((resource) => ({ ...resource, uri: addToUri(resource.uri) })),
    })),
    templates: once((result) => ({
      ...result,
      resourceTemplates: result.resourceTemplates.map((template) => ({
        ...template,
        uriTemplate: addToUri(template.uriTemplate),
      })),
    })),
    toolResult: once((result) => {
      if (!('content' in result)) return result
      const content = mapEach(result.content as ContentBlock[], block)
      return content === result.content ? result : { ...result, content }
    }),
    prompt: once((result) => {
      if (!('messages' in result)) return result
      const messages = mapEach((result as GetPromptResult).messages, (message) => {
        const content = block(message.content)
        return content === message.content ? message : { ...message, content }
      })
      return messages === result.messages ? result : { ...result, messages }
    }),
    contents: once((result) => {
      if (!('contents' in result)) return result
      const contents = (result as ReadResourceResult).contents.map((each) => ({ ...each, uri: addToUri(each.uri) }))
      return { ...result, contents }
    }),
  }
}

function once<Result extends object>(map: Mapping<Result>): Mapping<Result> {
  const known = new WeakMap<Result, Result>()
  return (result) => {
    if (!isTextKept(result)) return map(result)
    const mapped = known.get(result) ?? map(result)
    if (!isTextKept(mapped)) keepText(mapped)
    known.set(result, mapped)
    return mapped
  }
}

/** The very array when each item stays the very item. */
function mapEach<Item>(items: Item[], map: Mapping<Item>): Item[] {
  const mapped = items.map(map)
  return mapped.every((item, index) => item === items[index]) ? items : mapped
}

/** What clients fetch by themselves keeps its address. */
function mapBlock(block: ContentBlock, addToUri: (uri: string) => string): ContentBlock {
  if (block.type === 'resource_link') return isWeb(block.uri) ? block : { ...block, uri: addToUri(block.uri) }
  if (block.type !== 'resource' || isWeb(block.resource.uri)) return block
  return { ...block, resource: { ...block.resource, uri: addToUri(block.resource.uri) } }
}

function isWeb(uri: string): boolean {
  return /^https?:/i.test(uri)
}

/** The resource that shows a tool's results to the user is named in the tool's metadata. */
function mapView(tool: Tool, addToUri: (uri: string) => string): Tool {
  const { ui, 'ui/resourceUri': flat } = tool._meta ?? {}
  const uri = (ui as { resourceUri?: unknown } | undefined)?.resourceUri
  const meta = { ...tool._meta }
  if (typeof uri === 'string') meta.ui = { ...(ui as object), resourceUri: addToUri(uri) }
  if (typeof flat === 'string') meta['ui/resourceUri'] = addToUri(flat)
  return typeof uri === 'string' || typeof flat === 'string' ? { ...tool, _meta: meta } : tool
}
