/** `createServer`: a server and its methods. */

import {
  type Awaitable,
  type Catalogue,
  type Exchange,
  type Handler,
  type Implementation,
  type JsonSchema,
  kindOf,
  type Responder,
  type ServerCapabilities,
  type WholeHandler,
  withDefaultLimits,
} from '@mcpx/protocol'
import { ChangeHub } from './changes.ts'
import type { RequestContext } from './context.ts'
import { capabilitiesOf, createServerHandler, dispatch, HANDLER_MEMBERS } from './dispatch.ts'
import type { ServerEra, ServerInternals, ServerLimits } from './era.ts'
import { describeRequest, Faults, type OnError, QuestionError, RegistrationError } from './errors.ts'
import { endSession, legacy, watchChanges } from './legacy.ts'
import { type Endpoint, type Middleware, type ServerRequest, wrap } from './middleware.ts'
import { modern } from './modern.ts'
import { combine } from './mount/combine.ts'
import { handlerOf, type Mountable, mounted, recordMount } from './mount/prefix.ts'
import type { PromptOptions } from './prompts.ts'
import { checkOptionNames } from './registration.ts'
import { createRegistry, type Registry, type RegistryOptions } from './registry.ts'
import { RequestState } from './request-state.ts'
import type { ResourceOptions } from './resources.ts'
import { ListedSchemas } from './tool-schemas.ts'
import type { ToolOptions } from './tools.ts'
import type { Fluent, NoOffers } from './typed-server.ts'

/** Options of `createServer`. */
export interface ServerOptions {
  /** Tells the model how to use the server. */
  readonly instructions?: string | undefined
  /** Seal the state of unfinished calls: the current secret, then older secrets that still open. Default: a random one for this process. */
  readonly secrets?: readonly string[] | undefined
  /** How long the state of an unfinished call is valid, in ms. Default: 600,000. */
  readonly stateTtl?: number | undefined
  /** Called with each fault in user code; the client sees only its id. Default: writes to stderr. */
  readonly onError?: OnError | undefined
  /** Whether clients of the revisions before 2026-07-28 are served. Default: true. */
  readonly legacy?: boolean | undefined
  /**
   * Whether the logging capability is declared; without it, `ctx.log` sends nothing. Default: true where something is
   * registered, a mounted server declares it, or the handler has a `setLogLevel`.
   *
   * @deprecated The protocol may drop logging from its first revision on or after 2027-07-28 on
   * (SEP-2577): write to stderr, or trace with OpenTelemetry.
   */
  readonly logging?: boolean | undefined
  /** How many items a page of a list holds. Default: 1,000. */
  readonly pageSize?: RegistryOptions['pageSize']
  /** How long, and for whom, clients may cache the lists of registered items. Default: not cacheable. */
  readonly cache?: RegistryOptions['cache']
  /** Called with warnings, for example a tool name that some clients reject. Default: none. */
  readonly onWarning?: RegistryOptions['onWarning']
  /** Checks values against plain JSON Schemas. Default: `createJsonSchemaValidator()` of `@mcpx/json-schema`. */
  readonly validator?: RegistryOptions['validator']
  /** Limits that differ from `SERVER_LIMITS`. */
  readonly limits?: Partial<ServerLimits> | undefined
}

const OPTION_NAMES: readonly (keyof ServerOptions)[] = [
  'instructions',
  'secrets',
  'stateTtl',
  'onError',
  'legacy',
  'logging',
  'pageSize',
  'cache',
  'onWarning',
  'validator',
  'limits',
]

/** The default limits of a server. */
export const SERVER_LIMITS: ServerLimits = { listens: 1_000, subscriptions: 1_000, rounds: 16 }

/** Answers messages of every revision that it serves, on any number of connections at once. */
export interface Server<Offers extends Catalogue = NoOffers> extends Fluent<Offers>, Responder {
  /** The whole server with its middleware, to be mounted elsewhere, or called. */
  readonly handler: Handler
  /**
   * Adds everything of another handler or server; names get the prefix: `search` becomes `github.search`. Throws a
   * `RegistrationError` for a server that would be mounted inside itself, be it by way of other servers.
   */
  mount(prefix: string, target: Mountable): this
  /** Adds a middleware around every request; the first one added is the outermost. */
  use(middleware: Middleware): this
  /** Removes a tool; clients are told. Returns whether the tool existed. */
  removeTool(name: string): boolean
  /** Removes a resource or template; clients are told. Returns whether it existed. */
  removeResource(uri: string): boolean
  /** Removes a prompt; clients are told. Returns whether the prompt existed. */
  removePrompt(name: string): boolean
  /** Tells subscribers that the contents of a resource changed. */
  resourceUpdated(uri: string): void
  /** Ends open subscriptions; nothing else is kept open. */
  close(): void
}

/**
 * Creates a server. Tools, resources and prompts are added by its methods, or by a handler object in `options`, or both.
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
  const { registry, faults } = core
  const servesLegacy = options.legacy ?? true
  const eras: readonly ServerEra[] = servesLegacy ? [modern, legacy] : [modern]

  const server: Server = {
    handler: createServerHandler(core.callEndpoint, (member) => core.hasMember(member)),

    // The types of what was registered exist for the compiler alone: at run time there is one object.
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
    mount(prefix, target) {
      const part = mounted(prefix, target)
      recordMount(server.handler, prefix, handlerOf(target))
      core.addPart(part)
      return server
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
    respond(message, exchange) {
      // Messages that belong to no served era are refused by the modern one.
      const era = eras.find((each) => each.matches(message, exchange)) ?? modern
      return era.handle(message, exchange, core)
    },
    watchChanges: (session, send) => (servesLegacy ? watchChanges(session, send, core) : () => {}),
    async sessionEnded(session) {
      if (servesLegacy) await endSession(session, core)
    },
    inputSchemaOf(tool, exchange) {
      try {
        return core.inputSchemaOf(tool, exchange)
      } catch (error) {
        faults.report(error, undefined, { method: 'tools/call', params: { name: tool } })
        return undefined
      }
    },
  }
  Object.assign(server.handler, { changes: core.changes.onChange })
  return server
}

function checkServerInfo(info: Implementation): void {
  if (typeof info?.name === 'string' && typeof info.version === 'string') return
  throw new RegistrationError(`createServer: expected { name, version } as texts, got ${JSON.stringify(info)}`)
}

/** A handler object may have members of its own. */
function checkServerOptions(options: ServerOptions & WholeHandler): void {
  if (!isHandler(options)) checkOptionNames('createServer', options, OPTION_NAMES)
  checkOptionNames('createServer, limits', options.limits ?? {}, Object.keys(SERVER_LIMITS))
}

const HANDLER_NAMES: readonly string[] = [...Object.values(HANDLER_MEMBERS), 'changes']

/** Also true for an instance of a class, whose methods are not its own members. */
function isHandler(options: object): boolean {
  return HANDLER_NAMES.some((name) => name in options)
}

/** The parts of a server, and everything that the eras need of it. */
class ServerCore implements ServerInternals {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly limits: ServerLimits
  readonly faults: Faults
  readonly requestState: RequestState
  readonly registry: Registry
  readonly changes: ChangeHub
  readonly #logging: boolean | undefined
  /** The handler object of the options, what was registered, and what was mounted; what was registered comes first. */
  readonly #parts: Handler[]
  readonly #middlewares: Middleware[] = []
  #handler: Handler | undefined
  #endpoint: Endpoint | undefined
  #closing: AbortController | undefined
  #listedSchemas: ListedSchemas | undefined

  constructor(info: Implementation, options: ServerOptions & WholeHandler) {
    const { instructions, limits, onError, logging, secrets, stateTtl, pageSize, cache, onWarning, validator } = options
    this.info = info
    this.instructions = instructions
    this.#logging = logging
    this.limits = withDefaultLimits(SERVER_LIMITS, limits)
    this.faults = new Faults(onError)
    const report = (error: unknown) => void this.faults.report(error)
    this.requestState = new RequestState({ secrets, ttl: stateTtl, onWarning: report })
    // The object itself, not a copy, which would lose the methods of a class.
    this.#parts = isHandler(options) ? [options as Handler] : []
    this.changes = new ChangeHub(this.#parts, report)
    const onRegister = () => {
      if (!this.#parts.includes(this.registry)) this.addPart(this.registry, 0)
    }
    this.registry = createRegistry({ pageSize, cache, onWarning, validator, onError: report, onRegister })
  }

  get handler(): Handler {
    this.#handler ??= combine(this.#parts, this.changes.onChange)
    return this.#handler
  }

  get capabilities(): ServerCapabilities {
    return capabilitiesOf(this.handler, this.isLogging)
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
    this.#middlewares.push(middleware)
    this.#endpoint = undefined
  }

  /** Runs a request through the middleware and the handler. */
  readonly callEndpoint: Endpoint = (request, ctx) => {
    this.#endpoint ??= wrap(this.#middlewares, (inner, innerCtx) =>
      dispatch(this.handler, inner, innerCtx, this.faults),
    )
    return this.#endpoint(request, ctx)
  }

  async run(request: ServerRequest, ctx: RequestContext): Promise<object> {
    const result = await this.callEndpoint(request, ctx)
    for (const question of ctx.notAwaited) {
      const problem = `${describeRequest(request)}: the handler did not await ${question}`
      this.faults.report(new QuestionError(`${problem}; write \`await\` before it`), ctx, request)
    }
    return result
  }

  /** Throws what the `visible` option of a tool throws. */
  inputSchemaOf(tool: string, exchange: Exchange): Awaitable<JsonSchema | undefined> {
    if (this.registry.owns('tool', tool)) return this.registry.inputSchemaOf(tool, exchange.auth)
    if (this.handler === this.registry || this.handler.listTools === undefined) return undefined
    this.#listedSchemas ??= new ListedSchemas(this.handler, this.faults, this.closing)
    return this.#listedSchemas.find(tool, exchange)
  }

  close(): void {
    this.#getClosing().abort()
    this.changes.close()
  }

  /** Created when needed: the first controller of a process takes as long as reading a small file. */
  #getClosing(): AbortController {
    this.#closing ??= new AbortController()
    return this.#closing
  }
}
