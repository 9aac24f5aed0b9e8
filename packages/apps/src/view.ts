/** The names, types and checks that are used for servers, clients and hosts of views. */

import { isObject, type JsonObject, kindOf, quoted } from '@mcpx/protocol'

/** The id of the extension, which only clients declare. */
export const UI_EXTENSION = 'io.modelcontextprotocol/ui'

/** The MIME type of views. */
export const UI_MIME_TYPE = 'text/html;profile=mcp-app'

/** The largest HTML document of a view: 10 Mi UTF-16 code units. */
export const MAX_HTML = 10 * 1024 * 1024

/** A party that may call a tool: the model, or the views of the same server. */
export type Visibility = 'model' | 'app'

/**
 * The origins that a view may use, such as `https://api.example.com` or `https://*.example.com`. Default of all
 * members: none.
 */
export interface ViewCsp {
  /** Origins of `fetch`, `WebSocket` and `EventSource`. */
  readonly connectDomains?: readonly string[] | undefined
  /** Origins of scripts, styles, images, fonts and media. */
  readonly resourceDomains?: readonly string[] | undefined
  /** Origins of nested frames. */
  readonly frameDomains?: readonly string[] | undefined
  /** Origins of the `base` element. */
  readonly baseUriDomains?: readonly string[] | undefined
}

const CSP_MEMBERS = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'] as const

/** The browser features that a view can request. */
export const PERMISSIONS = ['camera', 'microphone', 'geolocation', 'clipboardWrite'] as const

/** A browser feature that a view can request. */
export type Permission = (typeof PERMISSIONS)[number]

/** The metadata of a view: `_meta.ui` of its resource. */
export interface ViewMeta {
  /** The origins that the view may use. */
  readonly csp: ViewCsp
  /** The browser features that the view requests. */
  readonly permissions: readonly Permission[]
  /**
   * The requested origin of the view, in a format that depends on the host. Undefined if the host chooses an origin.
   */
  readonly domain: string | undefined
  /** Whether the host should draw a border. Undefined if the host decides. */
  readonly prefersBorder: boolean | undefined
}

/**
 * The reason of a `ViewError`.
 * - `invalid-view`: a view does not have the form that the specification requires.
 * - `limit`: a view is larger than 10 MiB.
 * - `not-found`: the file does not exist, or the tool has no view.
 */
export type ViewErrorReason = 'invalid-view' | 'limit' | 'not-found'

/**
 * The error of a view that cannot be served or must not be displayed. The message names the view, the place and the
 * remedy.
 */
export class ViewError extends Error {
  override readonly name = 'ViewError'
  /** The reason why the view is refused. */
  readonly reason: ViewErrorReason

  constructor(reason: ViewErrorReason, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }
}

/**
 * An origin: a scheme for web pages or sockets, a host, and an optional port. It contains no character that ends a CSP
 * source.
 */
const ORIGIN = /^(?:https?|wss?):\/\/(?:\*\.)?[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/i
const MAX_ORIGIN = 300
/** The largest number of origins of one member. */
const MAX_ORIGINS = 100

/** Reads `_meta.ui` of a resource. Unknown members are ignored. Throws a `ViewError` for an invalid member. */
export function readMeta(value: unknown, place: string): ViewMeta {
  const { csp, permissions, domain, prefersBorder } = readObject(value, place)
  if (domain !== undefined && (typeof domain !== 'string' || !/^[\w.:/-]{1,300}$/.test(domain))) {
    throw invalid(`${place}, domain: expected a domain name, got ${describe(domain)}`)
  }
  if (prefersBorder !== undefined && typeof prefersBorder !== 'boolean') {
    throw invalid(`${place}, prefersBorder: expected a boolean, got ${kindOf(prefersBorder)}`)
  }
  const wanted = readObject(permissions, `${place}, permissions`)
  return {
    csp: readCsp(csp, `${place}, csp`),
    permissions: PERMISSIONS.filter((name) => isObject(Object.hasOwn(wanted, name) ? wanted[name] : undefined)),
    domain,
    prefersBorder,
  }
}

function readCsp(value: unknown, place: string): ViewCsp {
  const members = readObject(value, place)
  const csp: Partial<Record<keyof ViewCsp, readonly string[]>> = {}
  for (const name of CSP_MEMBERS) {
    const origins = members[name]
    if (origins === undefined) continue
    if (!Array.isArray(origins)) {
      throw invalid(`${place}, ${name}: expected an array of origins, got ${kindOf(origins)}`)
    }
    if (origins.length > MAX_ORIGINS) {
      throw invalid(`${place}, ${name}: expected at most ${MAX_ORIGINS} origins, got ${origins.length}`)
    }
    for (const [index, origin] of origins.entries()) {
      if (typeof origin === 'string' && origin.length <= MAX_ORIGIN && ORIGIN.test(origin)) continue
      const remedy = 'expected an origin such as "https://api.example.com" without a path'
      throw invalid(`${place}, ${name}[${index}]: ${remedy}, got ${describe(origin)}`)
    }
    csp[name] = [...origins]
  }
  return csp
}

function readObject(value: unknown, place: string): JsonObject {
  if (value === undefined) return {}
  if (!isObject(value)) throw invalid(`${place}: expected an object, got ${kindOf(value)}`)
  return value as JsonObject
}

/** Returns the HTML. Throws a `ViewError` if it is not a string, is empty or is too large. */
export function checkHtml(html: unknown, place: string): string {
  if (typeof html !== 'string') throw invalid(`${place}: expected a string with an HTML document, got ${kindOf(html)}`)
  if (html.trim() === '') throw invalid(`${place}: expected an HTML document, got an empty string`)
  checkSize(html.length, place)
  return html
}

/** Throws a `ViewError` for a view that is larger than `MAX_HTML`. */
export function checkSize(size: number, place: string): void {
  if (size <= MAX_HTML) return
  const remedy = 'load large parts from an origin of `resourceDomains`'
  throw new ViewError('limit', `${place}: expected at most ${MAX_HTML} characters (10 MiB), got ${size}; ${remedy}`)
}

/** Creates the error for an invalid view. */
export function invalid(message: string): ViewError {
  return new ViewError('invalid-view', message)
}

/** Returns a short description of a value for errors. */
export function describe(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : kindOf(value)
}
