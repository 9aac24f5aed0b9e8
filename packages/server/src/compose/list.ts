/** The kinds of lists that handlers give. */

import type { Awaitable, CacheableResult, Context, PageRequest } from '@mcpx/protocol'
import type { Kind } from '../members.ts'

/** How a list is asked for, and what its items are called. */
export interface List {
  readonly method: 'listTools' | 'listPrompts' | 'listResources' | 'listResourceTemplates'
  readonly items: 'tools' | 'prompts' | 'resources' | 'resourceTemplates'
  readonly kind: Kind
  readonly name: 'name' | 'uri' | 'uriTemplate'
}

export const LISTS: readonly List[] = [
  { method: 'listTools', items: 'tools', kind: 'tool', name: 'name' },
  { method: 'listPrompts', items: 'prompts', kind: 'prompt', name: 'name' },
  { method: 'listResources', items: 'resources', kind: 'resource', name: 'uri' },
  { method: 'listResourceTemplates', items: 'resourceTemplates', kind: 'resource', name: 'uriTemplate' },
]

export type Item = Readonly<Record<List['name'], string>>

/** A page of a handler. */
export type Page = CacheableResult & { nextCursor?: string | undefined } & Readonly<
    Record<List['items'], readonly Item[]>
  >

/** A handler, as whoever treats all lists alike sees it. */
export type Lister = Readonly<
  Partial<Record<List['method'], (page: PageRequest, ctx: Context) => Awaitable<Page> | undefined>>
>
