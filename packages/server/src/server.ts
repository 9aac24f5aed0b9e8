/** A server, as its author sees it: offers are added one by one, and the whole answers messages. */

import type { Catalogue, Handler, Implementation, Responder } from '@mcpx/protocol'
import { asHandler } from './as-handler.ts'
import { handlerOf, type Mountable, mounted, noteMount } from './compose.ts'
import type { Wire } from './eras/wire.ts'
import type { Fluent, NoOffers } from './fluent.ts'
import type { Middleware } from './middleware.ts'
import { createServerCore, type ServerOptions } from './server-core.ts'

/** Answers messages of every revision that it serves, on any number of connections at once. */
export interface Server<Offers extends Catalogue = NoOffers> extends Fluent<Offers>, Responder {
  /** All that this server offers, with its middleware: to be mounted elsewhere, or called. */
  readonly handler: Handler
  /**
   * Adds all that another handler, or server, offers; names get the prefix: `search` becomes `github.search`. Throws a
   * `RegistrationError` for a server that would come to stand within itself, be it by way of others.
   */
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

/** The types of what was added are for the compiler alone: here every method that adds returns the one object. */
export function assemble(info: Implementation, options: ServerOptions, wire: Wire): Server {
  const core = createServerCore(info, options as ServerOptions & Handler)
  const { registry } = core
  const { changes, ended } = wire
  const chained =
    <Args extends readonly unknown[]>(add: (...args: Args) => void) =>
    (...args: Args) => {
      add(...args)
      return server
    }
  const registering = <Args extends readonly unknown[]>(add: (...args: Args) => void) =>
    chained((...args: Args) => core.register(() => add(...args)))

  const server = {
    handler: asHandler(core),
    tool: registering(registry.addTool),
    resource: registering(registry.addResource),
    prompt: registering(registry.addPrompt),
    mount: chained((prefix: string, target: Mountable) => {
      const part = mounted(prefix, target)
      noteMount(server.handler, prefix, handlerOf(target))
      core.add(part)
    }),
    use: chained(core.use),
    removeTool: registry.removeTool,
    removeResource: registry.removeResource,
    removePrompt: registry.removePrompt,
    resourceUpdated: registry.resourceUpdated,
    close: core.close,
    respond: (message, exchange) =>
      'id' in message ? wire.answer(message, exchange, core) : wire.hear?.(message, exchange, core),
    legacy: core.servesLegacy && changes !== undefined,
    toolSchema: core.toolSchema,
    changes: changes && ((session, tell) => changes(session, tell, core)),
    sessionEnded: ended && ((session) => ended(session, core)),
  } as Responder & { readonly handler: Handler }
  return server as unknown as Server
}
