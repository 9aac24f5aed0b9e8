/** A server, as its author sees it: offers are added one by one, and the whole answers messages. */

import type {
  Awaitable,
  Catalogue,
  Exchange,
  Handler,
  Implementation,
  JsonSchema,
  NotificationMessage,
  RequestMessage,
  Responder,
  ResponseMessage,
  Session,
  WholeHandler,
} from '@mcpx/protocol'
import { asHandler } from './as-handler.ts'
import { type Mountable, mounted } from './compose.ts'
import { answer, changes, ended, hear } from './eras/select.ts'
import type { Fluent, NoOffers } from './fluent.ts'
import type { Middleware } from './middleware.ts'
import type { Registry } from './registry.ts'
import { ServerCore, type ServerOptions } from './server-core.ts'

/** Answers messages of every revision, on any number of connections at once. */
export interface Server<Offers extends Catalogue = NoOffers> extends Fluent<Offers>, Responder {
  /** All that this server offers, with its middleware: to be mounted elsewhere, or called. */
  readonly handler: Handler
  /** Adds all that another handler, or server, offers; names get the prefix: `search` becomes `github.search`. */
  mount(prefix: string, target: Mountable): this
  /** Puts a middleware around every request; the first one added is the outermost. */
  use(middleware: Middleware): this
  /** Takes a tool away; clients are told. Whether there was one. */
  removeTool(name: string): boolean
  removeResource(uri: string): boolean
  removePrompt(name: string): boolean
  /** Tells those who watch a resource that it is not what it was. */
  resourceUpdated(uri: string): void
  /** Ends open subscriptions; nothing else is kept. */
  close(): void
}

/**
 * Makes a server. It is filled by its methods, or by a handler object given here, or both.
 *
 * ```ts
 * const server = createServer({ name: 'clock', version: '1.0.0' })
 *   .tool('now', { description: 'The time' }, () => new Date().toISOString())
 * ```
 */
export function createServer(info: Implementation, options: ServerOptions & WholeHandler = {}): Server {
  return new FluentServer(new ServerCore(info, options as ServerOptions & Handler)) as unknown as Server
}

/** The types of what was added are for the compiler alone: here every method returns the one object. */
class FluentServer implements Responder {
  readonly handler: Handler
  readonly #core: ServerCore

  constructor(core: ServerCore) {
    this.#core = core
    this.handler = asHandler(core)
  }

  tool(...args: Parameters<Registry['addTool']>): this {
    this.#core.register((registry) => registry.addTool(...args))
    return this
  }

  resource(...args: Parameters<Registry['addResource']>): this {
    this.#core.register((registry) => registry.addResource(...args))
    return this
  }

  prompt(...args: Parameters<Registry['addPrompt']>): this {
    this.#core.register((registry) => registry.addPrompt(...args))
    return this
  }

  mount(prefix: string, target: Mountable): this {
    this.#core.add(mounted(prefix, target))
    return this
  }

  use(middleware: Middleware): this {
    this.#core.use(middleware)
    return this
  }

  removeTool(name: string): boolean {
    return this.#core.registry.removeTool(name)
  }

  removeResource(uri: string): boolean {
    return this.#core.registry.removeResource(uri)
  }

  removePrompt(name: string): boolean {
    return this.#core.registry.removePrompt(name)
  }

  resourceUpdated(uri: string): void {
    this.#core.registry.resourceUpdated(uri)
  }

  close(): void {
    this.#core.close()
  }

  respond(message: RequestMessage | NotificationMessage, exchange: Exchange): Awaitable<ResponseMessage | undefined> {
    return 'id' in message ? answer(message, exchange, this.#core) : hear(message, exchange, this.#core)
  }

  toolSchema(name: string, exchange: Exchange): Awaitable<JsonSchema | undefined> {
    return this.#core.toolSchema(name, exchange)
  }

  changes(session: Session, signal: AbortSignal): AsyncIterable<NotificationMessage> {
    return changes(session, signal, this.#core)
  }

  sessionEnded(session: Session): Awaitable<void> {
    return ended(session, this.#core)
  }
}
