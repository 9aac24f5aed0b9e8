/** `createServer` and the server that it returns. */

import {
  type Catalogue,
  type Context,
  checkNumbers,
  type Era,
  type Handler,
  type Implementation,
  isObject,
  kindOf,
  type Responder,
  type ServerCapabilities,
  SHARE_PER_CALLER,
  SharedLimit,
  type Store,
  type Telemetry,
  TelemetryReporter,
  type WholeHandler,
  withDefaultLimits,
} from '@mcpx/protocol'
import { ChangeHub } from './changes.ts'
import { RequestContext } from './context.ts'
import { addItem } from './define.ts'
import { capabilitiesOf, createServerHandler, dispatch, HANDLER_MEMBERS } from './dispatch.ts'
import type { ServerInternals, ServerLimits } from './era.ts'
import { describeRequest, Faults, type OnError, QuestionError, RegistrationError } from './errors.ts'
import type { ExtensionHost, ServerExtension } from './extension.ts'
import { type Extensions, installExtensions } from './extensions.ts'
import { endSession, legacy, watchChanges } from './legacy.ts'
import { createWorkContext } from './long-work.ts'
import { type Endpoint, type Middleware, type ServerRequest, wrap } from './middleware.ts'
import { isModern, modern } from './modern.ts'
import { combine, type OwningHandler } from './mount/combine.ts'
import { handlerOf, mounted, recordMount } from './mount/prefix.ts'
import type { PromptOptions } from './prompts.ts'
import { missingCapabilities, type OnUnsupported } from './questions.ts'
import { checkOptionNames } from './registration.ts'
import { createRegistry, type Registry, type RegistryOptions } from './registry.ts'
import { RequestState } from './request-state.ts'
import type { ResourceOptions } from './resources.ts'
import { toResult } from './results.ts'
import { observeExchange, observeHandler, observeNotifications, reportSessionEnd } from './telemetry.ts'
import { ListedSchemas } from './tool-schemas.ts'
import type { ToolOptions } from './tools.ts'
import type { Fluent, NoItems } from './typed-server.ts'

/** Options of `createServer`. */
export interface ServerOptions {
  /** Instructions for the model on how to use the server. Default: none. */
  readonly instructions?: string | undefined
  /**
   * Secrets for the state of unfinished calls. The first secret encrypts; all secrets decrypt. Default: a random secret
   * for this process.
   */
  readonly secrets?: readonly string[] | undefined
  /**
   * Stores the state that all processes of this server share, such as sessions. With a store, changes of lists and
   * resources reach the clients of every process. Transports and `rateLimit` also use the store. The server never closes
   * the store. Default: the memory of this process.
   */
  readonly store?: Store | undefined
  /** How long the state of an unfinished call is valid, in ms. Default: 600,000. */
  readonly stateTtl?: number | undefined
  /** Called with each fault in user code. The client receives only the id of the fault. Default: writes to stderr. */
  readonly onError?: OnError | undefined
  /**
   * Answers forms and URLs that the client cannot show. Default: the call fails with an error that names the missing
   * capability.
   */
  readonly onUnsupported?: OnUnsupported | undefined
  /** Whether clients of revisions before 2026-07-28 are supported. Default: true. */
  readonly legacy?: boolean | undefined
  /**
   * Whether the logging capability is declared. Without it, `ctx.log` sends nothing. Default: true if a tool, resource or
   * prompt is registered, or a handler or mounted server supports logging.
   *
   * @deprecated A revision published on or after 2027-07-28 may remove logging (SEP-2577): write to stderr, or trace with
   * OpenTelemetry.
   */
  readonly logging?: boolean | undefined
  /** The largest number of items on a page of a list. Default: 1,000. */
  readonly pageSize?: RegistryOptions['pageSize']
  /** The cache hints of the lists of registered items. Default: not cacheable. */
  readonly cache?: RegistryOptions['cache']
  /** Called with warnings, for example a tool name that some clients reject. Default: none. */
  readonly onWarning?: RegistryOptions['onWarning']
  /** Checks values against plain JSON Schemas. Default: `createJsonSchemaValidator()` of `@mcpx/json-schema`. */
  readonly validator?: RegistryOptions['validator']
  /** Observes all messages, for example `telemetry()` of `@mcpx/telemetry`, which traces them. Default: none. */
  readonly telemetry?: Telemetry | undefined
  /** Optional features of the protocol, such as tasks, or your own features. Default: none. */
  readonly extensions?: readonly ServerExtension[] | undefined
  /** Limits that differ from `SERVER_LIMITS`. */
  readonly limits?: Partial<ServerLimits> | undefined
}

const OPTION_NAMES: readonly (keyof ServerOptions)[] = [
  'instructions',
  'secrets',
  'store',
  'stateTtl',
  'onError',
  'onUnsupported',
  'legacy',
  'logging',
  'pageSize',
  'cache',
  'onWarning',
  'validator',
  'telemetry',
  'extensions',
  'limits',
]

/** The default limits of a server. */
export const SERVER_LIMITS: ServerLimits = {
  listens: 1_000,
  subscriptions: 1_000,
  rounds: 16,
  perCaller: SHARE_PER_CALLER,
}

/**
 * A server. It handles messages of all supported revisions, on any number of connections. It is also a `Responder`; the
 * members that only transports call are left out of this type, so that editors do not propose them.
 */
export interface Server<Types extends Catalogue = NoItems> extends Fluent<Types>, Pick<Responder, 'respond'> {
  /** The whole server with its middleware as a handler, for mounting and for direct calls. */
  readonly handler: Handler
  /** Adds a middleware that runs around every request. The first middleware is the outermost. */
  use(middleware: Middleware): this
  /** Removes a tool and notifies clients. Returns whether it existed. */
  removeTool(name: string): boolean
  /** Removes a resource or template and notifies clients. Returns whether it existed. */
  removeResource(uri: string): boolean
  /** Removes a prompt and notifies clients. Returns whether it existed. */
  removePrompt(name: string): boolean
  /** Notifies subscribers that the contents of a resource have changed. */
  resourceUpdated(uri: string): void
  /** Ends open subscriptions. Transports must be closed separately. */
  close(): void
}

/**
 * Creates a server. Tools, resources and prompts are added by methods, by the handler members of `options`, or both.
 *
 * ```ts
 * const server = createServer({ name: 'clock', version: '1.0.0' })
 *   .tool('now', { description: 'The time' }, () => new Date().toISOString())
 * ```
 */
export function createServer(info: Implementation, options: ServerOptions & WholeHandler = {}): Server {
  checkServerInfo(info)
  checkServerOptions(options)
  const core = new ServerCore(info, options)
  const { registry, reporter } = core
  const servesLegacy = options.legacy ?? true

  const server: Server & Responder = {
    handler: createServerHandler(core.callEndpoint, (member) => core.hasMember(member)),

    // The chained types exist only for the compiler. At run time, all methods return the same object.
    tool(name, toolOptions, run) {
      registry.addTool(name, toolOptions as ToolOptions, run as never)
      return server as never
    },
    resource(uri, resourceOptions, read) {
      registry.addResource(uri, resourceOptions as ResourceOptions, read as never)
      return server as never
    },
    prompt(name, promptOptions, get) {
      registry.addPrompt(name, promptOptions as PromptOptions, get as never)
      return server as never
    },
    add(...items) {
      for (const item of items) addItem(registry, item)
      return server as never
    },
    mount(prefix, target) {
      const isReported = reporter !== undefined && isObject(target)
      const part = mounted(prefix, isReported ? observeHandler(reporter, prefix, handlerOf(target)) : target)
      recordMount(server.handler, prefix, handlerOf(target))
      core.addPart(part)
      return server as never
    },
    use(middleware) {
      core.use(middleware)
      return server
    },
    removeTool: registry.removeTool,
    removeResource: registry.removeResource,
    removePrompt: registry.removePrompt,
    resourceUpdated: registry.resourceUpdated,
    close: () => core.close(),

    legacy: servesLegacy,
    store: options.store,
    telemetry: options.telemetry,
    respond(message, exchange) {
      core.changes.isServing = true
      // If legacy messages are not supported, the modern era refuses them.
      const era = servesLegacy && !isModern(message, exchange) ? legacy : modern
      if (reporter?.isActive !== true) return era.handle(message, exchange, core)
      return observeExchange(reporter, message, exchange, (observed) => era.handle(message, observed, core))
    },
    watchChanges(session, send, hasGap) {
      if (!servesLegacy) return () => {}
      const sendReported = reporter === undefined ? send : observeNotifications(reporter, session, send)
      return watchChanges(session, sendReported, core, hasGap)
    },
    async sessionEnded(session, network) {
      if (reporter !== undefined) reportSessionEnd(reporter, session, network)
      if (servesLegacy) await endSession(session, core)
    },
    inputSchemaOf: core.inputSchemaOf,
  }
  Object.assign(server.handler, { changes: core.changes.onChange, toolOptions: core.toolOptions })
  return server
}

function checkServerInfo(info: Implementation): void {
  if (typeof info?.name === 'string' && typeof info.version === 'string') return
  throw new RegistrationError(`createServer: expected { name, version } as strings, got ${JSON.stringify(info)}`)
}

/** Checks the options. Unknown members are refused only without a handler, because a handler object may have any members. */
function checkServerOptions(options: ServerOptions & WholeHandler): void {
  if (!isObject(options) || !isHandler(options)) checkOptionNames('createServer', options, OPTION_NAMES)
  const { limits = {}, onUnsupported = {} } = options
  checkOptionNames('createServer, onUnsupported', onUnsupported, ['elicit'] satisfies (keyof OnUnsupported)[])
  checkOptionNames('createServer, limits', limits, Object.keys(SERVER_LIMITS))
}

const HANDLER_NAMES: readonly string[] = [...Object.values(HANDLER_MEMBERS), 'changes']

/** Returns whether the options contain handler members. Inherited members of a class instance count, too. */
function isHandler(options: object): boolean {
  return HANDLER_NAMES.some((name) => name in options)
}

/** The parts of a server, and the members that the eras use. */
class ServerCore implements ServerInternals {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly onUnsupported: OnUnsupported | undefined
  readonly limits: ServerLimits
  readonly faults: Faults
  readonly requestState: RequestState
  readonly registry: Registry
  readonly changes: ChangeHub
  readonly listens: SharedLimit
  readonly reporter: TelemetryReporter | undefined
  readonly #telemetry: Telemetry | undefined
  readonly extensions: Extensions | undefined
  readonly #logging: boolean | undefined
  readonly #store: Store | undefined
  readonly #onWarning: RegistryOptions['onWarning']
  /** The registry, then the handler object of the options and the mounted handlers. */
  readonly #parts: Handler[]
  readonly #middlewares: Middleware[] = []
  #handler: Handler | undefined
  #endpoint: Endpoint | undefined
  #requestEndpoint: Endpoint | undefined
  /** The contexts that were created for extensions. They record questions. */
  readonly #workContexts = new WeakMap<Context, RequestContext>()
  #closing: AbortController | undefined
  #listedSchemas: ListedSchemas | undefined

  constructor(info: Implementation, options: ServerOptions & WholeHandler) {
    const { instructions, limits, onError, onUnsupported, logging, secrets, stateTtl, store, telemetry } = options
    const { pageSize, cache, onWarning, validator, extensions } = options
    this.info = info
    this.instructions = instructions
    this.onUnsupported = onUnsupported
    this.#logging = logging
    this.#store = store
    this.#onWarning = onWarning
    this.limits = withDefaultLimits(SERVER_LIMITS, limits)
    this.listens = new SharedLimit(this.limits.listens, this.limits.perCaller)
    this.faults = new Faults(onError)
    const report = (error: unknown) => void this.faults.report(error)
    checkNumbers('createServer: ', { stateTtl })
    this.#telemetry = telemetry
    this.reporter = telemetry && new TelemetryReporter(telemetry, report)
    this.requestState = new RequestState({ secrets, ttl: stateTtl, onWarning: report })
    // Use the object itself, because a copy would lose inherited methods.
    this.#parts = isHandler(options) ? [options as Handler] : []
    this.changes = new ChangeHub(this.#parts, report, store?.bus)
    const onRegister = () => {
      if (!this.#parts.includes(this.registry)) this.addPart(this.registry, 0)
    }
    this.extensions = installExtensions(extensions, this.#createHost())
    const extensionOptions = this.extensions?.toolOptions
    this.registry = createRegistry({ pageSize, cache, onWarning, validator, extensionOptions, onRegister })
    for (const part of this.extensions?.parts ?? []) this.addPart(part)
  }

  get handler(): Handler {
    this.#handler ??= combine(this.#parts, this.changes.onChange)
    return this.#handler
  }

  capabilitiesIn(era: Era): ServerCapabilities {
    const capabilities = capabilitiesOf(this.handler, this.isLogging)
    const extensions = this.extensions?.settingsIn(era) ?? {}
    return Object.keys(extensions).length === 0 ? capabilities : { ...capabilities, extensions }
  }

  get isLogging(): boolean {
    return this.#logging ?? this.handler.setLogLevel !== undefined
  }

  get closing(): AbortSignal {
    return this.#getClosing().signal
  }

  hasMember(member: keyof Handler): boolean {
    return member === 'setLogLevel' ? this.isLogging : this.handler[member] !== undefined
  }

  addPart(part: Handler, index = this.#parts.length): void {
    this.#parts.splice(index, 0, part)
    this.#handler = undefined
    this.#listedSchemas = undefined
    this.changes.onPartAdded(part)
  }

  use(middleware: Middleware): void {
    if (typeof middleware !== 'function') {
      throw new RegistrationError(`use: expected (request, ctx, next) => …, got ${kindOf(middleware)}`)
    }
    const store = this.#store
    this.#middlewares.push((store && middleware.withStore?.(store)) ?? middleware)
    this.#endpoint = undefined
    this.#requestEndpoint = undefined
  }

  /** Runs a request through the middleware and the handler, without extensions, as a part of another server. */
  readonly callEndpoint: Endpoint = (request, ctx) => {
    this.#endpoint ??= wrap(this.#middlewares, this.#dispatch)
    return this.#endpoint(request, ctx)
  }

  /** Runs a request of a client through the middleware, the middleware of extensions, and the handler. */
  async run(request: ServerRequest, ctx: Context): Promise<object> {
    this.#requestEndpoint ??= wrap([...this.#middlewares, ...(this.extensions?.middlewares ?? [])], this.#dispatch)
    const endpoint: Endpoint = this.#requestEndpoint
    const result = await endpoint(request, ctx)
    if (ctx instanceof RequestContext) this.#reportNotAwaited(request, ctx)
    return result
  }

  readonly #dispatch: Endpoint = (request, ctx) =>
    this.extensions === undefined ? dispatch(this.handler, request, ctx, this.faults) : this.#dispatchMore(request, ctx)

  async #dispatchMore(request: ServerRequest, ctx: Context): Promise<object> {
    const result = await (this.extensions?.call(request, ctx) ?? dispatch(this.handler, request, ctx, this.faults))
    const own = this.#workContexts.get(ctx)
    if (own !== undefined) this.#reportNotAwaited(request, own)
    return result
  }

  #reportNotAwaited(request: ServerRequest, ctx: RequestContext): void {
    for (const question of ctx.notAwaited) {
      const problem = `${describeRequest(request)}: the handler did not await ${question}`
      this.faults.report(new QuestionError(`${problem}; write \`await\` before it`), ctx, request)
    }
  }

  readonly toolOptions: NonNullable<OwningHandler['toolOptions']> = (name, auth) =>
    (this.handler as OwningHandler).toolOptions?.(name, auth)

  /** Creates the server as extensions see it. */
  #createHost(): ExtensionHost {
    const core = this
    const bindingOf = (binding: string) => ({ subject: undefined, method: 'extension', params: { binding } })
    return {
      info: core.info,
      store: core.#store,
      get closing() {
        return core.closing
      },
      report: (...fault) => core.faults.report(...fault),
      warn: (warning) => core.#onWarning?.(warning),
      toRpcError: (...fault) => core.faults.toRpcError(...fault),
      toResult,
      seal: (data, binding, ttl) => core.requestState.seal(data, bindingOf(binding), ttl),
      open: (sealed, binding) => core.requestState.open(sealed, bindingOf(binding), Number.POSITIVE_INFINITY),
      toolOptions: (tool, { auth }) => core.toolOptions(tool, auth),
      stateOf(ctx) {
        const { answers = {}, steps = {} } = (ctx as Partial<RequestContext>).asker?.state ?? {}
        return { answers, steps }
      },
      callerOf: (ctx) => (ctx as Partial<RequestContext>).caller,
      canAnswer: (request, { capabilities }) => missingCapabilities(request, capabilities, true) === undefined,
      createContext(work, base) {
        const { ctx, own } = createWorkContext(work, core.onUnsupported, base)
        core.#workContexts.set(ctx, own)
        return ctx
      },
      run: async (request, ctx) => toResult(request, await core.run(request, ctx)),
      observe: (work, run) =>
        core.reporter?.work(work, (running) => run((outcome) => running.end(outcome))) ?? run(() => {}),
      reportLoad(readLoad) {
        const stop = core.#telemetry?.onServe?.(readLoad)
        if (stop !== undefined) core.closing.addEventListener('abort', stop, { once: true })
      },
    }
  }

  /** Returns the input schema of a tool. Reports errors of the `visible` option of a tool. */
  readonly inputSchemaOf: NonNullable<Responder['inputSchemaOf']> = (tool, exchange) => {
    try {
      const own = this.registry.inputSchemaOf(tool, exchange.auth)
      if (own !== undefined || this.registry.owns('tool', tool)) return own
      if (this.handler === this.registry || this.handler.listTools === undefined) return undefined
      this.#listedSchemas ??= new ListedSchemas(this.handler, this.faults, this.closing)
      return this.#listedSchemas.find(tool, exchange)
    } catch (error) {
      this.faults.report(error, undefined, { method: 'tools/call', params: { name: tool } })
      return undefined
    }
  }

  close(): void {
    this.#getClosing().abort()
    this.changes.close()
  }

  /**
   * Creates the controller on first use. Creating the first `AbortController` of a process takes as long as reading a
   * small file.
   */
  #getClosing(): AbortController {
    this.#closing ??= new AbortController()
    return this.#closing
  }
}
