/** What a server is made of, behind the face that users see: its parts, its middleware, and what the eras need. */

import type {
  Awaitable,
  Change,
  Context,
  Exchange,
  Handler,
  Implementation,
  JsonSchema,
  ServerCapabilities,
} from '@mcpx/protocol'
import { combine } from './compose.ts'
import { type Core, capabilitiesOf, SERVER_LIMITS, type ServerLimits } from './core.ts'
import { dispatch } from './dispatcher.ts'
import { createFaults, type Faults, type OnError } from './faults.ts'
import { type Endpoint, type Middleware, type ServerRequest, wrap } from './middleware.ts'
import { createRegistry, type Registry, type RegistryOptions } from './registry.ts'
import { createRequestState, type RequestState } from './request-state.ts'
import { createSchemaSearch, listingContext, type SchemaSearch } from './tool-schemas.ts'

export interface ServerOptions {
  /** How to make good use of the server, for the model. */
  readonly instructions?: string | undefined
  /** Seal the state of unfinished calls: the current secret, then older ones that still open. Default: a random one for this process. */
  readonly secrets?: readonly string[] | undefined
  /** How long the state of an unfinished call may be used, in ms. Default: 600,000. */
  readonly stateTtl?: number | undefined
  /**
   * Hears of each fault in user code, whole, with the id that the client got to see instead; and of a plain JSON Schema
   * that only the validator, once it is loaded, finds to be unusable. Default: `console.error`.
   */
  readonly onError?: OnError | undefined
  /** Whether peers of the revisions before the modern ones are served. Default: true. */
  readonly legacy?: boolean | undefined
  /**
   * Whether log messages are offered to clients; without it, `ctx.log` says nothing. Default: where something is
   * registered, mounted with it, or the handler has a `setLogLevel`.
   *
   * @deprecated The protocol may drop logging from its first revision on or after 2027-07-28 on
   * (SEP-2577): write to stderr, or trace with OpenTelemetry.
   */
  readonly logging?: boolean | undefined
  /** How many items of a list make a page. Default: 1,000. */
  readonly pageSize?: number | undefined
  /** How long, and for whom, the lists of what was registered may be kept. Default: not at all. */
  readonly cache?: RegistryOptions['cache']
  /** Hears of what works, but badly: a name that clients may refuse. Default: nobody does. */
  readonly warn?: ((message: string) => void) | undefined
  /** Checks values against plain JSON Schemas. Default: the one of `@mcpx/protocol/json-schema`, loaded when needed. */
  readonly validator?: RegistryOptions['validator']
  readonly limits?: Partial<ServerLimits> | undefined
}

export class ServerCore implements Core {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly requestState: RequestState
  readonly limits: ServerLimits
  readonly faults: Faults
  readonly servesLegacy: boolean
  readonly registry: Registry
  readonly #closing = new AbortController()
  readonly #logging: boolean | undefined
  readonly #parts: Handler[]
  readonly #middlewares: Middleware[] = []
  #handler: Handler | undefined
  #endpoint: Endpoint | undefined
  #schemaSearch: SchemaSearch | undefined
  #capabilities: { readonly key: string; readonly value: ServerCapabilities } | undefined

  constructor(info: Implementation, options: ServerOptions & Handler) {
    this.info = info
    this.instructions = options.instructions
    this.limits = { ...SERVER_LIMITS, ...options.limits }
    this.faults = createFaults(options.onError)
    this.servesLegacy = options.legacy ?? true
    this.requestState = createRequestState({
      secrets: options.secrets,
      ttlMs: options.stateTtl,
      warn: (problem) => this.faults.report(problem, undefined),
    })
    this.registry = createRegistry({
      pageSize: options.pageSize,
      cache: options.cache,
      warn: options.warn,
      validator: options.validator,
      onError: (error) => this.faults.report(error, undefined),
    })
    this.#logging = options.logging
    this.#parts = isHandler(options) ? [options] : []
  }

  get handler(): Handler {
    this.#handler ??= combine(this.#parts)
    return this.#handler
  }

  get capabilities(): ServerCapabilities {
    const value = capabilitiesOf(this.handler, this.isLogging)
    const key = JSON.stringify(value)
    if (this.#capabilities?.key !== key) this.#capabilities = { key, value }
    return this.#capabilities.value
  }

  get isLogging(): boolean {
    return this.#logging ?? this.handler.setLogLevel !== undefined
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }

  run(request: ServerRequest, ctx: Context): Awaitable<object> {
    this.#endpoint ??= wrap(this.#middlewares, (passed, passedCtx) =>
      dispatch(this.handler, passed, passedCtx, this.faults),
    )
    return this.#endpoint(request, ctx)
  }

  /** Asks the handler itself, as middleware does that looks for a tool: it is no request that others should see. */
  toolSchema(name: string, exchange: Exchange): Awaitable<JsonSchema | undefined> {
    const report = (error: unknown, ctx: Context | undefined) => void this.faults.report(error, ctx)
    try {
      // What is registered comes before all other parts.
      if (this.handler === this.registry || this.registry.owns?.('tool', name))
        return this.registry.schemaOf(name, exchange.auth)
      this.#schemaSearch ??= createSchemaSearch(this.handler, report)
      return this.#schemaSearch(name, listingContext(exchange, this.closing))
    } catch (error) {
      report(error, undefined)
      return undefined
    }
  }

  onChange(listener: (change: Change) => void): () => void {
    return this.handler.changes?.(listener) ?? (() => {})
  }

  /** The registry becomes a part with the first thing that is registered, and comes before all others. */
  register(add: (registry: Registry) => void): void {
    add(this.registry)
    if (!this.#parts.includes(this.registry)) this.#parts.unshift(this.registry)
    this.#forget()
  }

  add(part: Handler): void {
    this.#parts.push(part)
    this.#forget()
  }

  use(middleware: Middleware): void {
    this.#middlewares.push(middleware)
    this.#endpoint = undefined
  }

  close(): void {
    this.#closing.abort()
  }

  #forget(): void {
    this.#handler = undefined
    this.#schemaSearch = undefined
  }
}

function isHandler(options: object): options is Handler {
  return ['callTool', 'readResource', 'getPrompt', 'complete', 'changes'].some((name) => name in options)
}
