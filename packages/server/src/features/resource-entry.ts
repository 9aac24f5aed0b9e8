/** One resource, or one family of them, as it is registered. */

import { type Awaitable, type Context, quoted, type Resource } from '@mcpx/protocol'
import { createUriMatcher, type UriTemplateMatch } from '@mcpx/protocol/uri-template'
import { gateOf } from '../visibility.ts'
import type { Completers } from './completers.ts'
import { type CacheHints, hintsFor } from './listing.ts'
import { checkOffer } from './offer-form.ts'
import { RegistrationError } from './registration-error.ts'
import type { ListedResource, ResourceOptions } from './resource-options.ts'
import { reasonOf } from './schema-conversion.ts'
import type { Shelved } from './shelf.ts'
import { present } from './shown.ts'

export type AnyRead = (variables: never, ctx: Context, uri: string) => unknown

/** Under its URI or template. */
export interface ResourceEntry extends Shelved {
  readonly isTemplate: boolean
  /** As it is listed, but for `uri` or `uriTemplate`. */
  readonly shown: Omit<Resource, 'uri'>
  readonly hints: CacheHints
  readonly variables: readonly string[]
  readonly completers: Completers
  /** The values of the variables; nothing when the URI is none of the family. */
  match(uri: string): UriTemplateMatch | undefined
  read(variables: UriTemplateMatch, ctx: Context, uri: string): unknown
  list: ((ctx: Context) => Awaitable<readonly ListedResource[]>) | undefined
}

export function makeEntry(uri: string, options: ResourceOptions, source: unknown): ResourceEntry {
  const what = checkOffer('Resource', uri, options, source)
  const isTemplate = uri.includes('{')
  const { variables, match } = isTemplate ? parseTemplate(uri, what) : parseUri(uri, what)
  const { complete = {}, list } = options as { complete?: Completers; list?: ResourceEntry['list'] }
  if (!isTemplate && list !== undefined) throw new RegistrationError(`${what}: only templates have \`list\``)
  const stray = Object.keys(complete).find((name) => !variables.includes(name))
  if (stray !== undefined) throw new RegistrationError(`${what}, complete: there is no variable ${quoted(stray)}`)
  if (isTemplate && typeof source !== 'function') throw new RegistrationError(`${what}: a template needs a function`)
  const gate = gateOf(options)
  return {
    name: uri,
    isTemplate,
    shown: {
      name: options.name ?? uri,
      ...present(options, 'title', 'description', 'mimeType', 'icons', 'annotations', '_meta'),
      ...(isTemplate ? undefined : present(options, 'size')),
    },
    gate,
    hints: options.cache === undefined ? {} : hintsFor(options.cache, gate !== undefined),
    variables,
    completers: complete,
    match,
    read: typeof source === 'function' ? (source as ResourceEntry['read']) : () => source,
    list,
  }
}

function parseTemplate(uri: string, what: string): Pick<ResourceEntry, 'variables' | 'match'> {
  try {
    return createUriMatcher(uri)
  } catch (cause) {
    throw new RegistrationError(`${what}: ${reasonOf(cause)}`, { cause })
  }
}

function parseUri(uri: string, what: string): Pick<ResourceEntry, 'variables' | 'match'> {
  // RFC 3986: a scheme, and no blanks, controls or brackets behind it.
  if (!/^[a-z][a-z\d+.-]*:[^\s<>"{}|\\^`\p{Cc}]*$/iu.test(uri)) {
    throw new RegistrationError(`${what}: expected a URI with a scheme, such as "config://app"`)
  }
  return { variables: [], match: (other) => (other === uri ? {} : undefined) }
}
