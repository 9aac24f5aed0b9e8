/** Reads the views of servers, for clients that display them or hide their tools from a model. */

import { isObject, type JsonObject, quoted, type ReadResourceResult, type Resource, type Tool } from '@mcpx/protocol'
import {
  checkHtml,
  checkSize,
  describe,
  invalid,
  type Permission,
  readMeta,
  UI_EXTENSION,
  UI_MIME_TYPE,
  ViewError,
  type ViewMeta,
  type Visibility,
} from './view.ts'

// biome-ignore format: a list of names reads best as a paragraph
export {
  type Permission, UI_EXTENSION, UI_MIME_TYPE, type ViewCsp, ViewError, type ViewErrorReason, type ViewMeta,
  type Visibility,
} from './view.ts'

/**
 * Declares that a client displays views.
 *
 * ```ts
 * await connect(server, { extensions: [apps()] })
 * ```
 */
export function apps(): { readonly id: typeof UI_EXTENSION; readonly settings: JsonObject } {
  return { id: UI_EXTENSION, settings: { mimeTypes: [UI_MIME_TYPE] } }
}

/** A connected client: the result of `connect` of `@mcpx/client`. */
export interface ViewsConnection {
  /** Reads a resource. */
  readResource(uri: string, options?: ViewCallOptions): Promise<ReadResourceResult>
  /** Lists the resources. */
  listResources(options?: ViewCallOptions): AsyncIterable<Resource>
}

/** The options of `readView`. */
export interface ViewCallOptions {
  /** Cancels the requests. */
  readonly signal?: AbortSignal | undefined
  /** How long to wait for each response, in ms. Default: the timeout of the client. */
  readonly timeout?: number | undefined
}

/** The view and the visibility of a tool. */
export interface ToolUi {
  /** The URI of the view, as the server sent it; it is not checked. Undefined if the tool has no view. */
  readonly resourceUri: string | undefined
  /** Which parties may call the tool. Empty if the server sent an invalid value. */
  readonly visibility: readonly Visibility[]
}

/** A view that was read from a server, and its checked metadata. */
export interface LoadedView extends ViewMeta {
  /** The URI of its resource. */
  readonly uri: string
  /** The HTML document. Display it only in a sandboxed frame of another origin, with `contentSecurityPolicy`. */
  readonly html: string
}

const PARTIES = ['model', 'app'] as const

/**
 * Returns the view and the visibility of a tool. Also reads the deprecated form of the metadata. A tool without
 * metadata has no view and is visible to all parties.
 */
export function uiOf({ _meta = {} }: Pick<Tool, '_meta'>): ToolUi {
  const { ui, 'ui/resourceUri': flat } = _meta as Record<string, unknown>
  const { resourceUri = flat, visibility = PARTIES } = isObject(ui) ? (ui as Record<string, unknown>) : {}
  return {
    resourceUri: typeof resourceUri === 'string' ? resourceUri : undefined,
    visibility: Array.isArray(visibility) ? PARTIES.filter((party) => visibility.includes(party)) : [],
  }
}

/**
 * Returns the tools that a party may call. Send a model only tools for `model`, and let views call only tools for
 * `app`.
 */
export function visibleTo<Listed extends Pick<Tool, '_meta'>>(tools: readonly Listed[], party: Visibility): Listed[] {
  return tools.filter((tool) => uiOf(tool).visibility.includes(party))
}

/**
 * Reads the view of a tool. Checks its scheme, its MIME type, its size and each origin that it names. The metadata
 * comes from the content of the resource, otherwise from its entry in the list of resources.
 *
 * @throws ViewError if the tool has no view, or the view must not be displayed
 */
export async function readView(
  client: ViewsConnection,
  tool: Pick<Tool, 'name' | '_meta'>,
  options?: ViewCallOptions,
): Promise<LoadedView> {
  const place = `The view of the tool ${quoted(tool.name)}`
  const { resourceUri: uri } = uiOf(tool)
  if (uri === undefined) {
    throw new ViewError('not-found', `${place} does not exist; read views only of tools whose uiOf() has a resourceUri`)
  }
  if (!/^ui:\/\/[^\s]+$/.test(uri)) throw invalid(`${place}: expected a URI that begins with ui://, got ${quoted(uri)}`)
  const { contents } = await client.readResource(uri, options)
  const content = contents.find((each) => each.uri === uri) ?? contents[0]
  if (content === undefined) throw invalid(`${place}: expected contents, got none`)
  const { mimeType, _meta } = content
  if (mimeType !== UI_MIME_TYPE) {
    throw invalid(`${place}, mimeType: expected "${UI_MIME_TYPE}", got ${describe(mimeType)}`)
  }
  const html = checkHtml('text' in content ? content.text : decode(content.blob, place), place)
  const meta = _meta !== undefined && Object.hasOwn(_meta, 'ui') ? _meta : await findMeta(client, uri, options)
  return { uri, html, ...readMeta(meta?.ui, `${place}, _meta.ui`) }
}

/**
 * Returns the metadata of the entry in the list of resources, or undefined, because servers need not list their views.
 */
async function findMeta(client: ViewsConnection, uri: string, options?: ViewCallOptions) {
  for await (const entry of client.listResources(options)) if (entry.uri === uri) return entry._meta
  return undefined
}

function decode(blob: string, place: string): string {
  // Four characters of Base64 are three bytes.
  checkSize(Math.floor((blob.length / 4) * 3), place)
  try {
    const bytes = Uint8Array.from(atob(blob), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ViewError('invalid-view', `${place}, blob: expected the Base64 of UTF-8 text`, { cause })
  }
}

/**
 * Returns the `Content-Security-Policy` for the document of a view. It allows the scripts and styles in the document,
 * and the origins that the view declares. Send it as a header, because scripts can run before a `meta` element takes
 * effect.
 */
export function contentSecurityPolicy({ csp }: Pick<LoadedView, 'csp'>): string {
  const { connectDomains = [], resourceDomains = [], frameDomains = [], baseUriDomains = [] } = csp
  const join = (...sources: readonly string[]) => sources.join(' ')
  return [
    "default-src 'none'",
    join("script-src 'self' 'unsafe-inline'", ...resourceDomains),
    join("style-src 'self' 'unsafe-inline'", ...resourceDomains),
    join("img-src 'self' data:", ...resourceDomains),
    ...(resourceDomains.length > 0 ? [join("font-src 'self' data:", ...resourceDomains)] : []),
    join("media-src 'self' data:", ...resourceDomains),
    "object-src 'none'",
    join('connect-src', ...(connectDomains.length > 0 ? connectDomains : ["'none'"])),
    join('frame-src', ...(frameDomains.length > 0 ? frameDomains : ["'none'"])),
    join('base-uri', ...(baseUriDomains.length > 0 ? baseUriDomains : ["'self'"])),
    // `default-src` does not apply to the targets of forms.
    "form-action 'none'",
  ].join('; ')
}

const FEATURES: Readonly<Record<Permission, string>> = {
  camera: 'camera',
  microphone: 'microphone',
  geolocation: 'geolocation',
  clipboardWrite: 'clipboard-write',
}

/** Returns the `allow` attribute of the frame. Pass only permissions of the view that the user has granted. */
export function permissionsPolicy(permissions: readonly Permission[]): string {
  return permissions.map((permission) => FEATURES[permission]).join('; ')
}
