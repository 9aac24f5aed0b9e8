/** What a server is made of, behind the face that users see: its parts, its middleware, and what the eras need. */

import { type Context, type Implementation, kindOf } from '@mcpx/protocol'
import { type Audience, createAudience } from './audience.ts'
import { createCapabilities } from './capabilities.ts'
import { type Core, SERVER_LIMITS, type ServerLimits, type Wire } from './core.ts'
import { dispatch } from './dispatcher.ts'
import { createFaults, type OnError } from './faults.ts'
import { RegistrationError } from './features/registration-error.ts'
import { type Endpoint, type Middleware, wrap } from './middleware.ts'
import type { Offered } from './offered.ts'
import type { RequestState, RequestStateOptions } from './request-state.ts'
import type { RegistryOptions } from './tool-registry.ts'

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
  /** Checks values against plain JSON Schemas. Default: the one of `@mcpx/json-schema`, loaded when needed. */
  readonly validator?: RegistryOptions['validator']
  readonly limits?: Partial<ServerLimits> | undefined
}

/** What a server is put together of. What none of its makers names is no part of a bundle with it. */
export interface Makers<Offering extends Offered> {
  readonly wire: Wire
  /** `audience` is there once the server is; it is to hear of each part that comes later. */
  offer(options: RegistryOptions, audience: () => Audience): Offering
  createRequestState(options: RequestStateOptions): RequestState
}

export interface ServerCore<Offering extends Offered = Offered> extends Core {
  readonly offered: Offering
  use(middleware: Middleware): void
  close(): void
}

export function createServerCore<Offering extends Offered>(
  info: Implementation,
  options: ServerOptions,
  makers: Makers<Offering>,
): ServerCore<Offering> {
  checkInfo(info)
  const faults = createFaults(options.onError)
  const report = (error: unknown, ctx?: Context): void => void faults.report(error, ctx)
  const { pageSize, cache, warn, validator } = options
  const use = { pageSize, cache, warn, validator, onError: report }
  const offered = makers.offer(use, () => core.audience)
  const middlewares: Middleware[] = []
  const closing = createClosing()
  let endpoint: Endpoint | undefined
  const capabilities = createCapabilities()

  const core: ServerCore<Offering> = {
    wire: makers.wire,
    info,
    instructions: options.instructions,
    limits: { ...SERVER_LIMITS, ...options.limits },
    faults,
    servesLegacy: options.legacy ?? true,
    requestState: makers.createRequestState({ secrets: options.secrets, ttlMs: options.stateTtl, warn: report }),
    offered,
    closing: () => closing().signal,
    get handler() {
      return offered.handler
    },
    get capabilities() {
      return capabilities(core.handler, core.isLogging)
    },
    get isLogging() {
      return options.logging ?? core.handler.setLogLevel !== undefined
    },
    run(request, ctx) {
      endpoint ??= wrap(middlewares, (passed, passedCtx) => dispatch(offered.handler, passed, passedCtx, faults))
      return endpoint(request, ctx)
    },
    audience: createAudience(offered.parts, report),
    use(middleware) {
      if (typeof middleware !== 'function')
        throw new RegistrationError(`use: expected (request, ctx, next) => …, got ${kindOf(middleware)}`)
      middlewares.push(middleware)
      endpoint = undefined
    },
    close: () => end(core, closing()),
  }

  return core
}

function checkInfo(info: Implementation): void {
  if (typeof info?.name === 'string' && typeof info.version === 'string') return
  throw new RegistrationError(`createServer: expected { name, version } as texts, got ${JSON.stringify(info)}`)
}

function end(core: Core, closing: AbortController): void {
  closing.abort()
  core.audience.close()
}

/** Few ask for it, and Node takes as long to load the first of a process as to read a small file. */
function createClosing(): () => AbortController {
  let controller: AbortController | undefined
  return () => {
    controller ??= new AbortController()
    return controller
  }
}
