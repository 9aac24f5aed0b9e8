/** What a resource is registered with, as types. */

import type {
  Annotations,
  Awaitable,
  BlobResourceContents,
  Context,
  Icon,
  InputRequiredResult,
  MetaObject,
  ReadResourceResult,
  Resource,
  TextResourceContents,
} from '@mcpx/protocol'
import type { VisibilityOptions } from '../visibility.ts'
import type { Completer } from './completers.ts'
import type { CacheHints } from './listing.ts'

/** Nothing but the members of one object. */
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

/** The variables of a URI template, read off its text; nothing for a URI. */
export type UriVariables<Template extends string> = string extends Template
  ? Readonly<Record<string, string | string[]>>
  : Flat<Expressions<Template>>

/** A resource as a template lists it. */
export interface ListedResource extends Omit<Resource, 'name'> {
  /** Default: the URI. */
  name?: string
}

export interface ResourceOptions<Uri extends string = string> extends VisibilityOptions {
  /** Default: the URI or template. */
  name?: string
  title?: string
  description?: string
  /** Default: `text/plain`, `application/octet-stream` for bytes, `application/json` for everything else. */
  mimeType?: string
  /** In bytes. Not for templates. */
  size?: number
  icons?: Icon[]
  annotations?: Annotations
  _meta?: MetaObject
  /** How long, and for whom, what was read may be kept. Default: not at all. */
  cache?: CacheHints
  /** Whether clients may subscribe; `resourceUpdated` tells them. Default: false. */
  subscribe?: boolean
  /** The resources that a template stands for, as far as they are to be listed. Default: none. */
  list?: (ctx: Context) => Awaitable<readonly ListedResource[]>
  /** Proposes values for the variables of a template. */
  complete?: { readonly [Name in Extract<keyof UriVariables<Uri>, string>]?: Completer }
  /** Whether a resource that has this URI already is replaced. Default: false, which refuses the URI. */
  replace?: boolean
}

/**
 * What reading gives: a text, bytes, a value that is sent as JSON, contents, an array of contents, or a whole result.
 * `undefined` and `null` mean that there is no such resource.
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
