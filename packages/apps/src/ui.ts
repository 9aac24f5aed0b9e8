/** `ui` and the views that it creates. */

import { type Awaitable, isObject, type JsonObject, kindOf, refuseUnknownOption } from '@mcpx/protocol'
import {
  checkHtml,
  describe,
  invalid,
  PERMISSIONS,
  type Permission,
  readMeta,
  type ViewCsp,
  type Visibility,
} from './view.ts'

/** Reads the HTML of a view, and may report its changes. `file` of `@mcpx/apps/node` creates one. */
export interface ViewSource {
  /** Returns a whole HTML document of at most 10 MiB. Called for each read of the view. */
  read(): Awaitable<string>
  /** Calls `onChange` with each change until the returned function is called. Default: the view does not change. */
  watch?(onChange: () => void, onWarning: (warning: Error) => void): () => void
}

/** The options of `ui`. */
export interface UiOptions {
  /** A whole HTML document of at most 10 MiB, a function that returns it for each read, or a source such as `file(...)`. */
  readonly html: string | (() => Awaitable<string>) | ViewSource
  /** The display name of the resource. Default: none. */
  readonly title?: string | undefined
  /** The description of the resource. Default: none. */
  readonly description?: string | undefined
  /** The origins that the view may use. Default: none; the document must contain its scripts and styles. */
  readonly csp?: ViewCsp | undefined
  /** The browser features that the view requests. A host may refuse them. Default: none. */
  readonly permissions?: { readonly [Name in Permission]?: boolean | undefined } | undefined
  /** The requested origin of the view, in a format that depends on the host. Default: the host chooses an origin. */
  readonly domain?: string | undefined
  /** Whether the host should draw a border. Default: the host decides. */
  readonly prefersBorder?: boolean | undefined
}

const UI_OPTIONS: readonly (keyof UiOptions)[] = [
  'html',
  'title',
  'description',
  'csp',
  'permissions',
  'domain',
  'prefersBorder',
]
const CSP_OPTIONS: readonly (keyof ViewCsp)[] = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains']

/** A view that tools refer to. `ui` creates it. */
export class View {
  /** The name: the URI without `ui://`. */
  readonly name: string
  /** The URI of its resource. */
  readonly uri: string
  /** The entry of the resource without its URI. */
  readonly entry: { readonly name: string; readonly title?: string; readonly description?: string }
  /** `_meta.ui` of the resource. */
  readonly meta: JsonObject
  /** The source of the HTML. */
  readonly source: ViewSource

  /** @internal */
  constructor(name: string, options: UiOptions, meta: JsonObject, source: ViewSource) {
    this.name = name
    this.uri = `ui://${name}`
    const { title, description } = options
    this.entry = { name, ...(title !== undefined && { title }), ...(description !== undefined && { description }) }
    this.meta = meta
    this.source = source
  }
}

/** The option `ui` of a tool, with a view and a visibility. */
export interface ToolUiOption {
  /** The view that displays calls of the tool. Default: none. */
  readonly view?: View | undefined
  /** Which parties may call the tool. `['app']`: only views of this server; hosts hide it from the model. Default: both. */
  readonly visibility?: readonly Visibility[] | undefined
}

/**
 * Creates a view: an HTML document that hosts display for calls of a tool.
 *
 * ```ts
 * const view = ui('weather', { html: file(new URL('./weather.html', import.meta.url)) })
 * createServer(info, { extensions: [apps()] }).tool('weather', { ui: view }, () => 'It rains.')
 * ```
 *
 * @param name letters, digits and `_ . -`, in parts that are separated by slashes: the URI is `ui://` and the name
 * @throws ViewError for an invalid name, document, origin, permission or domain
 * @throws TypeError for an option that does not exist
 */
export function ui(name: string, options: UiOptions): View {
  if (typeof name !== 'string' || name.length > 128 || !/^[a-z\d][\w.-]*(?:\/[a-z\d][\w.-]*)*$/i.test(name)) {
    throw invalid(
      `ui: expected a name such as "weather" or "shop/cart" of at most 128 characters, got ${describe(name)}`,
    )
  }
  const place = `ui "${name}"`
  if (!isObject(options)) throw invalid(`${place}: expected options with html, got ${kindOf(options)}`)
  refuseUnknownOption(place, options, UI_OPTIONS)
  const { html, csp, permissions = {}, domain, prefersBorder } = options
  if (isObject(csp)) refuseUnknownOption(`${place}, csp`, csp, CSP_OPTIONS)
  refuseUnknownOption(`${place}, permissions`, permissions, PERMISSIONS)
  for (const [permission, value] of Object.entries(permissions)) {
    if (value === undefined || typeof value === 'boolean') continue
    throw invalid(`${place}, permissions, ${permission}: expected a boolean, got ${kindOf(value)}`)
  }
  const wanted = PERMISSIONS.filter((permission) => permissions[permission] === true)
  const meta = {
    ...(csp !== undefined && { csp: { ...csp } as JsonObject }),
    ...(wanted.length > 0 && { permissions: Object.fromEntries(wanted.map((permission) => [permission, {}])) }),
    ...(domain !== undefined && { domain }),
    ...(prefersBorder !== undefined && { prefersBorder }),
  }
  readMeta(meta, place)
  return new View(name, options, meta, createSource(html, place))
}

function createSource(html: UiOptions['html'], place: string): ViewSource {
  if (typeof html === 'function') return { read: html }
  if (typeof html !== 'string' && typeof html?.read === 'function') return html
  const document = checkHtml(html, `${place}, html`)
  return { read: () => document }
}

/** Returns a sentence about an invalid option `ui` of a tool. */
export function toolUiProblem(value: unknown): string | undefined {
  if (value instanceof View) return undefined
  if (!isObject(value)) return `expected a view that ui() has created, got ${kindOf(value)}`
  const { view, visibility, ...others } = value as ToolUiOption
  const [other] = Object.keys(others)
  if (other !== undefined) return `expected a view, or { view, visibility }, got the member "${other}"`
  if (view !== undefined && !(view instanceof View)) return `view: expected a view of ui(), got ${kindOf(view)}`
  if (view === undefined && visibility === undefined) return 'expected a view, a visibility or both, got none of them'
  const isValid =
    visibility === undefined ||
    (Array.isArray(visibility) &&
      visibility.length > 0 &&
      visibility.every((each) => each === 'model' || each === 'app'))
  return isValid ? undefined : `visibility: expected ["model"], ["app"] or both, got ${JSON.stringify(visibility)}`
}
