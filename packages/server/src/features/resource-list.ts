/** Lists resources: those that stand for themselves, then those that templates list. */

import {
  type Awaitable,
  type Context,
  isPromise,
  type ListResourcesResult,
  type PageRequest,
  type Resource,
} from '@mcpx/protocol'
import { cutPage } from '../pages.ts'
import { whenDone } from '../settle.ts'
import { createListing, hintsFor, type ListingOptions } from './listing.ts'
import type { ResourceEntry } from './resource-entry.ts'
import type { ListedResource } from './resource-options.ts'
import { ResultError } from './result-error.ts'
import type { Shelf } from './shelf.ts'

export function createResourceList(
  statics: Shelf<ResourceEntry>,
  templates: Shelf<ResourceEntry>,
  options: ListingOptions,
): (page: PageRequest, ctx: Context) => Awaitable<ListResourcesResult> {
  const listStatics = createListing(
    statics,
    'resources',
    options,
    (items, frame): ListResourcesResult => ({
      resources: items.map(toResource),
      ...frame,
    }),
  )

  function cut(listed: readonly (readonly Resource[])[], { cursor }: PageRequest, ctx: Context): ListResourcesResult {
    const all = statics
      .visibleTo(ctx.auth)
      .map(toResource)
      .concat(...listed)
    const { items, nextCursor } = cutPage(all, ({ uri }) => uri, 'resources', cursor, options.pageSize)
    const frame = hintsFor(options.hints, statics.restricted || templates.restricted)
    return { resources: [...items], ...(nextCursor === undefined ? undefined : { nextCursor }), ...frame }
  }

  return (page, ctx) => {
    if (!templates.all.some(({ list }) => list !== undefined)) return listStatics(page, ctx)
    const listed = templates.visibleTo(ctx.auth).map((entry) => listOf(entry, ctx))
    if (!listed.some(isPromise)) return cut(listed as Resource[][], page, ctx)
    return Promise.all(listed).then((settled) => cut(settled, page, ctx))
  }
}

function toResource({ name, shown }: ResourceEntry): Resource {
  return { uri: name, ...shown }
}

function listOf(entry: ResourceEntry, ctx: Context): Awaitable<Resource[]> {
  const complete = (listed: readonly ListedResource[]): Resource[] => listed.map((item) => completed(item, entry))
  return whenDone(entry.list?.(ctx) ?? [], complete)
}

function completed(item: ListedResource, { name, shown }: ResourceEntry): Resource {
  if (typeof item?.uri !== 'string') throw new ResultError(`Resource "${name}" lists something without a \`uri\``)
  const { mimeType } = shown
  return { name: item.uri, ...(mimeType === undefined ? undefined : { mimeType }), ...item }
}
