/** The resources of a server: registering, listing and reading them. */

import type {
  Awaitable,
  Context,
  InputRequiredResult,
  ReadResourceResult,
  ResourceHandler,
  ResourceTemplateReference,
  SubscriptionHandler,
} from '@mcpx/protocol'
import type { UriTemplateMatch } from '@mcpx/protocol/uri-template'
import { unknownName } from '../members.ts'
import { whenDone } from '../settle.ts'
import { type CacheHints, createListing, type ListingOptions } from './listing.ts'
import { makeEntry, type ResourceEntry } from './resource-entry.ts'
import { createResourceList } from './resource-list.ts'
import type { ResourceOptions } from './resource-options.ts'
import { toReadResult } from './resource-results.ts'
import { admits, createShelf } from './shelf.ts'

export interface Resources {
  readonly handler: Required<ResourceHandler>
  readonly subscription: SubscriptionHandler
  /** `source` is what reading gives, or a function that gives it. */
  add(uri: string, options: ResourceOptions, source: unknown): void
  /** Whether there was one. */
  remove(uri: string): boolean
  /** Whether a URI, or the text of a template, is one of these. */
  has(uri: string): boolean
  /** What a reference means to this caller: a template by its text, or whatever a URI belongs to. */
  refer(ref: ResourceTemplateReference, ctx: Context): ResourceEntry | undefined
}

export interface ResourcesOptions extends ListingOptions {
  /** Those of the list of templates. */
  readonly templateHints: CacheHints | undefined
}

interface Found {
  readonly entry: ResourceEntry
  readonly variables: UriTemplateMatch
}

export function createResources(options: ResourcesOptions): Resources {
  const statics = createShelf<ResourceEntry>('resource')
  const templates = createShelf<ResourceEntry>('resource')

  /** A URI belongs to the first that it fits, also when the caller may not see that one: nothing else stands in. */
  function find(uri: string, { auth }: Context): Found {
    const found = owner(uri)
    if (found === undefined || !admits(found.entry, auth)) throw unknownName({ kind: 'resource', name: uri })
    return found
  }

  function owner(uri: string): Found | undefined {
    const entry = statics.get(uri)
    if (entry !== undefined) return { entry, variables: {} }
    for (const template of templates.all) {
      const variables = template.match(uri)
      if (variables !== undefined) return { entry: template, variables }
    }
    return undefined
  }

  return {
    add(uri, entryOptions, source) {
      const entry = makeEntry(uri, entryOptions, source)
      const shelf = entry.isTemplate ? templates : statics
      shelf.put(entry, entryOptions.replace)
    },
    has: (uri) => templates.get(uri) !== undefined || owner(uri) !== undefined,
    remove: (uri) => statics.remove(uri) || templates.remove(uri),
    refer({ uri }, { auth }) {
      const entry = templates.get(uri) ?? owner(uri)?.entry
      return entry && admits(entry, auth) ? entry : undefined
    },
    handler: {
      listResources: createResourceList(statics, templates, options),
      listResourceTemplates: createListing(
        templates,
        'templates',
        { ...options, hints: options.templateHints },
        (items, frame) => ({
          resourceTemplates: items.map(({ name, shown }) => ({ uriTemplate: name, ...shown })),
          ...frame,
        }),
      ),
      readResource: ({ uri }, ctx) => read(uri, find(uri, ctx), ctx),
    },
    subscription: {
      subscribe({ uri }, ctx) {
        find(uri, ctx)
      },
      // Who subscribed to what is no longer there must be able to leave.
      unsubscribe() {},
    },
  }
}

function read(
  uri: string,
  { entry, variables }: Found,
  ctx: Context,
): Awaitable<ReadResourceResult | InputRequiredResult> {
  const facts = { uri, mimeType: entry.shown.mimeType, hints: entry.hints }
  return whenDone(entry.read(variables, ctx, uri), (value) => toReadResult(value, facts))
}
