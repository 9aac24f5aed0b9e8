/** Registers, lists and reads the resources of a server. */

import {
  type Annotations,
  type Awaitable,
  type BlobResourceContents,
  type Context,
  type Icon,
  type InputRequiredResult,
  type ListResourcesResult,
  type MetaObject,
  type PageRequest,
  quoted,
  type ReadResourceResult,
  type Resource,
  type ResourceHandler,
  type ResourceTemplateReference,
  type SubscriptionHandler,
  type TextResourceContents,
} from '@mcpx/protocol'
import { createUriMatcher, type UriTemplateMatch } from '@mcpx/protocol/uri-template'
import type { Completer, Completers } from './completion.ts'
import { unknownNameError } from './dispatch.ts'
import { RegistrationError, ResultError, reasonOf } from './errors.ts'
import {
  type CacheHints,
  createAccessRule,
  cutPage,
  isAdmitted,
  type ListOptions,
  type NamedItem,
  NamedItems,
  nameOf,
  toCacheHints,
  type VisibilityOptions,
} from './named-items.ts'
import { COMMON_OPTIONS, checkRegistration, pickDefined } from './registration.ts'
import { toReadResult } from './results.ts'

/** Converts an intersection to one object type. */
type Flat<Members> = { [Name in keyof Members]: Members[Name] }

type Named<Name extends string, Value> = Name extends `${infer Bare}:${number}`
  ? { [Key in Bare]: Value }
  : { [Key in Name]: Value }

type Variable<Text extends string, Value> = Text extends `${infer Name}*` ? Named<Name, string[]> : Named<Text, Value>

type Variables<List extends string, IsOptional extends boolean> = List extends `${infer One},${infer Rest}`
  ? Variables<One, IsOptional> & Variables<Rest, IsOptional>
  : IsOptional extends true
    ? Partial<Variable<List, string>>
    : Variable<List, string>

type Expression<Body extends string> = Body extends `${'?' | '&' | ';' | '#' | '.' | '/'}${infer List}`
  ? Variables<List, true>
  : Body extends `+${infer List}`
    ? Variables<List, false>
    : Variables<Body, false>

type Expressions<Template extends string> = Template extends `${string}{${infer Body}}${infer Rest}`
  ? Expression<Body> & Expressions<Rest>
  : unknown

/** The variables of a URI template, inferred from its string. A URI has none. */
export type UriVariables<Template extends string> = string extends Template
  ? Readonly<Record<string, string | string[]>>
  : Flat<Expressions<Template>>

/** A resource in the list of a template. */
export interface ListedResource extends Omit<Resource, 'name'> {
  /** The name. Default: the URI. */
  name?: string
}

/** Options of a resource or a resource template. */
export interface ResourceOptions<Uri extends string = string> extends VisibilityOptions {
  /** The name. Default: the URI or template. */
  name?: string | undefined
  /** The display name. Default: none. */
  title?: string | undefined
  /** The description of the contents. Default: none. */
  description?: string | undefined
  /** Default: `text/plain` for strings, `application/octet-stream` for bytes, `application/json` for all other values. */
  mimeType?: string | undefined
  /** The size in bytes. Templates have no size. Default: none. */
  size?: number | undefined
  /** Icons that a client may show. Default: none. */
  icons?: Icon[] | undefined
  /** The audience, priority and date of the resource. */
  annotations?: Annotations | undefined
  /** Metadata for clients that support it. */
  _meta?: MetaObject | undefined
  /** The cache hints of the contents. Default: not cacheable. */
  cache?: CacheHints | undefined
  /** Whether clients may subscribe to updates. `resourceUpdated` sends them. Default: false. */
  subscribe?: boolean | undefined
  /** Lists resources of a template. Default: none. */
  list?: ((ctx: Context) => Awaitable<readonly ListedResource[]>) | undefined
  /** Proposes values for the variables of a template. */
  complete?: { readonly [Name in Extract<keyof UriVariables<Uri>, string>]?: Completer } | undefined
  /** Whether the resource replaces a resource with the same URI. Default: false, which throws for a used URI. */
  replace?: boolean | undefined
}

/**
 * The values that a resource may return: a string, bytes, a value that is sent as JSON, contents, an array of contents,
 * or a whole result. `undefined` and `null` mean that the resource does not exist.
 */
export type ReadReturn = Awaitable<
  | string
  | Uint8Array
  | TextResourceContents
  | BlobResourceContents
  | readonly (TextResourceContents | BlobResourceContents)[]
  | ReadResourceResult
  | InputRequiredResult
  | object
  | undefined
  | null
>

export type ReadResource<Uri extends string = string> = (
  variables: UriVariables<Uri>,
  ctx: Context,
  uri: string,
) => ReadReturn

const OPTION_NAMES: readonly (keyof ResourceOptions)[] = [
  ...COMMON_OPTIONS,
  'name',
  'mimeType',
  'size',
  'annotations',
  'cache',
  'subscribe',
  'list',
  'complete',
]

export interface ResourcesOptions extends ListOptions {
  /** The cache hints of the list of templates. */
  readonly templateHints: CacheHints | undefined
}

/** A registered resource or template. Its name is the URI or the template string. */
interface RegisteredResource extends NamedItem {
  readonly isTemplate: boolean
  /** The definition that clients see, without `uri` or `uriTemplate`. */
  readonly definition: Omit<Resource, 'uri'>
  readonly hints: CacheHints
  readonly variables: readonly string[]
  readonly completers: Completers
  /** Returns the values of the variables, or undefined if the URI does not match. */
  match(uri: string): UriTemplateMatch | undefined
  read(variables: UriTemplateMatch, ctx: Context, uri: string): unknown
  readonly list: ((ctx: Context) => Awaitable<readonly ListedResource[]>) | undefined
}

interface ResourceMatch {
  readonly resource: RegisteredResource
  readonly variables: UriTemplateMatch
}

export class Resources {
  readonly #options: ResourcesOptions
  readonly #resources = new NamedItems<RegisteredResource>('resource')
  readonly #templates = new NamedItems<RegisteredResource>('resource')

  constructor(options: ResourcesOptions) {
    this.#options = options
  }

  /** @param source the contents, or a function that returns them */
  register(uri: string, options: ResourceOptions, source: unknown): void {
    const resource = createResource(uri, options, source)
    const items = resource.isTemplate ? this.#templates : this.#resources
    items.add(resource, options.replace)
  }

  /** Removes a resource or template. Returns whether it existed. */
  remove(uri: string): boolean {
    return this.#resources.remove(uri) || this.#templates.remove(uri)
  }

  /** Returns whether a URI or a template string belongs to a registered resource or template. */
  has(uri: string): boolean {
    return this.#templates.has(uri) || this.#match(uri) !== undefined
  }

  /** Finds the template with this string, or the resource or template for this URI, if it exists for the caller. */
  findReference({ uri }: ResourceTemplateReference, { auth }: Context): RegisteredResource | undefined {
    const resource = this.#templates.get(uri) ?? this.#match(uri)?.resource
    return resource && isAdmitted(resource, auth) ? resource : undefined
  }

  readonly handler: Required<ResourceHandler> = {
    listResources: (page, ctx) => this.#list(page, ctx),
    listResourceTemplates: async ({ cursor }, { auth }) => {
      const { pageSize, templateHints } = this.#options
      const { items, ...next } = cutPage(this.#templates.visibleTo(auth), nameOf, 'templates', cursor, pageSize)
      const resourceTemplates = items.map(({ name, definition }) => ({ uriTemplate: name, ...definition }))
      return { resourceTemplates, ...next, ...toCacheHints(templateHints, this.#templates.isRestricted) }
    },
    readResource: async ({ uri }, ctx) => {
      const { resource, variables } = this.#find(uri, ctx)
      const value = await resource.read(variables, ctx, uri)
      return toReadResult(value, uri, resource.definition.mimeType, resource.hints)
    },
  }

  readonly subscription: SubscriptionHandler = {
    subscribe: async ({ uri }, ctx) => void this.#find(uri, ctx),
    // Does not check the URI, so that clients can unsubscribe from a resource that was removed.
    unsubscribe: async () => {},
  }

  /** Finds the first item that matches a URI, even if the caller may not see that item. */
  #match(uri: string): ResourceMatch | undefined {
    const resource = this.#resources.get(uri)
    if (resource !== undefined) return { resource, variables: {} }
    for (const template of this.#templates.all) {
      const variables = template.match(uri)
      if (variables !== undefined) return { resource: template, variables }
    }
    return undefined
  }

  #find(uri: string, { auth }: Context): ResourceMatch {
    const match = this.#match(uri)
    if (match === undefined || !isAdmitted(match.resource, auth))
      throw unknownNameError({ kind: 'resource', name: uri })
    return match
  }

  /** Lists resources, then the resources that templates list. */
  async #list({ cursor }: PageRequest, ctx: Context): Promise<ListResourcesResult> {
    const { hints, pageSize } = this.#options
    const own = this.#resources.visibleTo(ctx.auth).map(({ name, definition }) => ({ uri: name, ...definition }))
    const listing = this.#templates.visibleTo(ctx.auth).filter(({ list }) => list !== undefined)
    const listed = await Promise.all(listing.map((template) => listTemplate(template, ctx)))
    const { items, ...next } = cutPage([...own, ...listed.flat()], ({ uri }) => uri, 'resources', cursor, pageSize)
    const hasListing = this.#templates.all.some(({ list }) => list !== undefined)
    const isRestricted = this.#resources.isRestricted || (hasListing && this.#templates.isRestricted)
    return { resources: [...items], ...next, ...toCacheHints(hints, isRestricted) }
  }
}

async function listTemplate({ name, definition, list }: RegisteredResource, ctx: Context): Promise<Resource[]> {
  const { mimeType } = definition
  const listed = (await list?.(ctx)) ?? []
  return listed.map((item) => {
    if (typeof item?.uri !== 'string') throw new ResultError(`Resource "${name}" lists an item without a \`uri\``)
    return { name: item.uri, ...(mimeType === undefined ? undefined : { mimeType }), ...item }
  })
}

function createResource(uri: string, options: ResourceOptions, source: unknown): RegisteredResource {
  const label = checkRegistration('Resource', [uri, options, source], OPTION_NAMES)
  const isTemplate = uri.includes('{')
  const { variables, match } = isTemplate ? parseTemplate(uri, label) : parseUri(uri, label)
  const { complete = {}, list } = options as { complete?: Completers; list?: RegisteredResource['list'] }
  if (!isTemplate && list !== undefined) throw new RegistrationError(`${label}: only templates have \`list\``)
  const stray = Object.keys(complete).find((name) => !variables.includes(name))
  if (stray !== undefined) throw new RegistrationError(`${label}, complete: there is no variable ${quoted(stray)}`)
  if (isTemplate && typeof source !== 'function') throw new RegistrationError(`${label}: a template needs a function`)
  const access = createAccessRule(options)
  return {
    name: uri,
    access,
    isTemplate,
    definition: {
      name: options.name ?? uri,
      ...pickDefined(options, 'title', 'description', 'mimeType', 'icons', 'annotations', '_meta'),
      ...(isTemplate ? undefined : pickDefined(options, 'size')),
    },
    hints: options.cache === undefined ? {} : toCacheHints(options.cache, access !== undefined),
    variables,
    completers: complete,
    match,
    read: typeof source === 'function' ? (source as RegisteredResource['read']) : () => source,
    list,
  }
}

function parseTemplate(uri: string, label: string): Pick<RegisteredResource, 'variables' | 'match'> {
  try {
    return createUriMatcher(uri)
  } catch (cause) {
    throw new RegistrationError(`${label}: ${reasonOf(cause)}`, { cause })
  }
}

function parseUri(uri: string, label: string): Pick<RegisteredResource, 'variables' | 'match'> {
  // As in RFC 3986: a scheme, and no spaces, control characters or brackets.
  if (!/^[a-z][a-z\d+.-]*:[^\s<>"{}|\\^`\p{Cc}]*$/iu.test(uri)) {
    throw new RegistrationError(`${label}: expected a URI with a scheme, such as "config://app"`)
  }
  return { variables: [], match: (other) => (other === uri ? {} : undefined) }
}
