/** `apps`: the extension of a server that serves the views of its tools. */

import {
  type Change,
  type Context,
  guarded,
  isObject,
  type ListResourcesResult,
  quoted,
  type ReadResourceResult,
  refuseUnknownOption,
  resourceNotFound,
  type Tool,
} from '@mcpx/protocol'
import { type ExtensionHost, type Middleware, RegistrationError, type ServerExtension } from '@mcpx/server'
import { type ToolUiOption, toolUiProblem, View } from './ui.ts'
import { checkHtml, UI_EXTENSION, UI_MIME_TYPE } from './view.ts'

/** The options of `apps`. */
export interface AppsOptions {
  /**
   * Whether tools also contain the deprecated `_meta["ui/resourceUri"]`, for hosts that support only early revisions.
   * Default: false.
   */
  readonly flatMeta?: boolean | undefined
  /**
   * Called with a warning if a tool with a view returns no content, which hosts without views need. Called once per
   * tool. Default: `onError` of the server, which by default writes to standard error.
   */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/**
 * Adds the tool option `ui` to a server. It names the view of a tool, which hosts display. Each view is a resource; a
 * caller can read it if the caller can call one of its tools. Only clients declare this extension.
 *
 * ```ts
 * createServer(info, { extensions: [apps()] }).tool('weather', { ui: view }, () => 'It rains.')
 * ```
 *
 * @throws TypeError for an option that does not exist
 */
export function apps(options: AppsOptions = {}): ServerExtension {
  refuseUnknownOption('apps', options, ['flatMeta', 'onWarning'] satisfies (keyof AppsOptions)[])
  return {
    id: UI_EXTENSION,
    settings: false,
    install(host) {
      const views = new Views(host, options)
      return { toolOptions: { ui: views.toolOption }, middleware: views.middleware, handler: views.handler }
    },
  }
}

/**
 * Returns whether the client of a request displays views. If not, the `content` of the result must contain everything
 * that the user needs.
 *
 * ```ts
 * server.tool('weather', { ui: view }, (_, ctx) => (supportsUi(ctx) ? 'Displayed.' : 'Monday: rain. Tuesday: sun.'))
 * ```
 */
export function supportsUi({ client }: Pick<Context, 'client'>): boolean {
  const settings: unknown = client.capabilities.extensions?.[UI_EXTENSION]
  const mimeTypes = isObject(settings) ? (settings as { mimeTypes?: unknown }).mimeTypes : undefined
  return client.supports(UI_EXTENSION) && Array.isArray(mimeTypes) && mimeTypes.includes(UI_MIME_TYPE)
}

interface UsedView {
  readonly view: View
  /** The names of the tools that were registered with the view. */
  readonly tools: Set<string>
  /** Stops watching the source of the view. */
  readonly stop: (() => void) | undefined
}

/** The views of one server. */
class Views {
  readonly #host: ExtensionHost
  readonly #flatMeta: boolean
  readonly #warn: (warning: Error) => void
  readonly #views = new Map<string, UsedView>()
  readonly #listeners = new Set<{ readonly onChange: (change: Change) => void }>()
  /** The tools for which the warning was sent. */
  readonly #reported = new Set<string>()

  constructor(host: ExtensionHost, { flatMeta = false, onWarning }: AppsOptions) {
    this.#host = host
    this.#flatMeta = flatMeta
    const report = (error: unknown) => void host.report(error)
    this.#warn = guarded(onWarning ?? report, report)
    host.closing.addEventListener('abort', () => this.#views.forEach(({ stop }) => void stop?.()), { once: true })
  }

  readonly toolOption = {
    check: (value: unknown, { _meta }: Readonly<Record<string, unknown>>): string | undefined => {
      const hasMeta = isObject(_meta) && ('ui' in _meta || 'ui/resourceUri' in _meta)
      return hasMeta ? 'the option _meta has a view, too; remove `ui` from _meta' : toolUiProblem(value)
    },
    define: (definition: Tool, value: unknown): Tool => {
      const { view, visibility } = readToolUi(value)
      if (view !== undefined) this.#add(view, definition.name)
      const meta = {
        ui: { ...(view && { resourceUri: view.uri }), ...(visibility && { visibility: [...visibility] }) },
        ...(view && this.#flatMeta && { 'ui/resourceUri': view.uri }),
      }
      return { ...definition, _meta: { ...definition._meta, ...meta } }
    },
  }

  readonly middleware: Middleware = async (request, ctx, next) => {
    const result = await next()
    if (request.method !== 'tools/call') return result
    const name = String(request.params.name)
    const { view, visibility } = readToolUi(this.#host.toolOptions(name, ctx)?.ui)
    if (view === undefined || visibility?.includes('model') === false || this.#reported.has(name)) return result
    const { content } = result as { content?: readonly { readonly type: string; readonly text?: string }[] }
    const isEmpty = content?.every(({ type, text = '' }) => type === 'text' && text.trim() === '')
    if (isEmpty !== true) return result
    this.#reported.add(name)
    const remedy = 'return a text for the model and for hosts without views'
    this.#warn(new Error(`Tool ${quoted(name)}: has the view ${quoted(view.name)} and returned no content; ${remedy}`))
    return result
  }

  readonly handler = {
    listResources: (_: unknown, ctx: Context): ListResourcesResult => ({
      resources: [...this.#views.values()]
        .filter((used) => this.#isVisible(used, ctx))
        .map(({ view }) => ({ uri: view.uri, ...view.entry, mimeType: UI_MIME_TYPE, _meta: { ui: view.meta } })),
    }),
    readResource: async ({ uri }: { readonly uri: string }, ctx: Context): Promise<ReadResourceResult> => {
      const view = this.#find(uri, ctx)
      const text = checkHtml(await view.source.read(), `ui "${view.name}", html`)
      return { contents: [{ uri, mimeType: UI_MIME_TYPE, text, _meta: { ui: view.meta } }] }
    },
    subscribe: ({ uri }: { readonly uri: string }, ctx: Context): void => void this.#find(uri, ctx),
    unsubscribe: (): void => {},
    owns: (kind: string, name: string): boolean => kind === 'resource' && this.#views.has(name),
    changes: (onChange: (change: Change) => void): (() => void) => {
      const entry = { onChange }
      this.#listeners.add(entry)
      return () => void this.#listeners.delete(entry)
    },
  }

  #add(view: View, tool: string): void {
    const used = this.#views.get(view.uri)
    if (used?.view === view) return void used.tools.add(tool)
    const [other] = [...(used?.tools ?? [])].filter((name) => name !== tool)
    if (other !== undefined) {
      const problem = `the view ${quoted(view.name)} differs from the view with this name of the tool ${quoted(other)}`
      throw new RegistrationError(`Tool ${quoted(tool)}, ui: ${problem}; create it once, or choose another name`)
    }
    used?.stop?.()
    const onChange = () => {
      this.#publish({ kind: 'resource', uri: view.uri })
      this.#publish({ kind: 'resources' })
    }
    this.#views.set(view.uri, { view, tools: new Set([tool]), stop: view.source.watch?.(onChange, this.#warn) })
    this.#publish({ kind: 'resources' })
  }

  #publish(change: Change): void {
    for (const { onChange } of [...this.#listeners]) onChange(change)
  }

  #find(uri: string, ctx: Context): View {
    const used = this.#views.get(uri)
    if (used === undefined || !this.#isVisible(used, ctx)) throw resourceNotFound(uri, 'modern')
    return used.view
  }

  /** Returns whether the caller may call a tool that has the view. */
  #isVisible({ view, tools }: UsedView, ctx: Context): boolean {
    return [...tools].some((tool) => readToolUi(this.#host.toolOptions(tool, ctx)?.ui).view === view)
  }
}

function readToolUi(value: unknown): ToolUiOption {
  return value instanceof View ? { view: value } : ((value ?? {}) as ToolUiOption)
}
