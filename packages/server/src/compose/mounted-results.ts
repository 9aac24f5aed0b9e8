/** Results of a mounted handler as the outside sees them. What stays as it is is not copied. */

import { type ContentBlock, isTextKept, keepText, type Tool } from '@mcpx/protocol'
import type { Naming } from '../members.ts'
import type { List, Page } from './list.ts'
import type { Prefix } from './prefix.ts'

type Mapping<Value> = (value: Value) => Value

/** A list with the names of the outside; a kept page is mapped once, and the mapped one is kept as well. */
export function mapList(list: List, prefix: Prefix): Mapping<Page> {
  return once((page) => ({
    ...page,
    [list.items]: page[list.items].map((item) => {
      const named = { ...item, [list.name]: prefix.add(list.kind, item[list.name]) }
      return list.kind === 'tool' ? mapView(named as unknown as Tool, prefix) : named
    }),
  }))
}

/** What a method gives for a name. */
export function mapResult(member: Naming, prefix: Prefix): Mapping<object> {
  const block = (each: ContentBlock) => mapBlock(each, prefix)
  switch (member) {
    case 'callTool':
      return once((result) => mapMember(result, 'content', mapEach(block)))
    case 'getPrompt':
      return once((result) =>
        mapMember(
          result,
          'messages',
          mapEach((each: object) => mapMember(each, 'content', block)),
        ),
      )
    case 'readResource': {
      const named = (each: { uri: string }) => ({ ...each, uri: prefix.add('resource', each.uri) })
      return once((result) => mapMember(result, 'contents', mapEach(named)))
    }
    default:
      return (result) => result
  }
}

function once<Value extends object>(map: Mapping<Value>): Mapping<Value> {
  const known = new WeakMap<Value, Value>()
  return (result) => {
    if (!isTextKept(result)) return map(result)
    const mapped = known.get(result) ?? map(result)
    if (!isTextKept(mapped)) keepText(mapped)
    known.set(result, mapped)
    return mapped
  }
}

/** The very object when there is no such member, or it stays the very value. */
function mapMember<Holder extends object, Value>(holder: Holder, key: string, map: Mapping<Value>): Holder {
  if (!(key in holder)) return holder
  const value = (holder as Record<string, Value>)[key] as Value
  const mapped = map(value)
  return mapped === value ? holder : { ...holder, [key]: mapped }
}

/** The very array when each item stays the very item. */
function mapEach<Item>(map: Mapping<Item>): Mapping<Item[]> {
  return (items) => {
    const mapped = items.map(map)
    return mapped.every((item, index) => item === items[index]) ? items : mapped
  }
}

/** What clients fetch by themselves keeps its address. */
function mapBlock(block: ContentBlock, prefix: Prefix): ContentBlock {
  const addToUri = (uri: string) => (/^https?:/i.test(uri) ? uri : prefix.add('resource', uri))
  if (block.type === 'resource_link') return mapMember(block, 'uri', addToUri)
  if (block.type !== 'resource') return block
  return mapMember(block, 'resource', (held: { uri: string }) => mapMember(held, 'uri', addToUri))
}

/** The resource that shows a tool's results to the user is named in the tool's metadata. */
function mapView(tool: Tool, prefix: Prefix): Tool {
  const { ui, 'ui/resourceUri': flat } = tool._meta ?? {}
  const uri = (ui as { resourceUri?: unknown } | undefined)?.resourceUri
  const meta = { ...tool._meta }
  if (typeof uri === 'string') meta.ui = { ...(ui as object), resourceUri: prefix.add('resource', uri) }
  if (typeof flat === 'string') meta['ui/resourceUri'] = prefix.add('resource', flat)
  return typeof uri === 'string' || typeof flat === 'string' ? { ...tool, _meta: meta } : tool
}
