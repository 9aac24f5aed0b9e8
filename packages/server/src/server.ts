/** A server, as its author sees it: offers are added one by one, and the whole answers messages. */

import type { Catalogue, Handler, Implementation, Responder } from '@mcpx/protocol'
import { handlerOf, type Mountable, mounted, noteMount } from './compose.ts'
import type { Wire } from './core.ts'
import type { Fluent, NoOffers } from './fluent.ts'
import type { Middleware } from './middleware.ts'
import { createParts, type Parts } from './parts.ts'
import { createRequestState } from './request-state.ts'
import { createServerCore, type ServerOptions } from './server-core.ts'
import { faceOf } from './server-face.ts'

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

export function assemble(info: Implementation, options: ServerOptions & Handler, wire: Wire): Server {
  const core = createServerCore<Parts>(info, options, {
    wire,
    createRequestState,
    offer: (use, audience) => createParts(options, use, audience),
  })
  const { registry, add } = core.offered
  const { addPrompt, addResource, removePrompt, removeResource, resourceUpdated } = registry
  const mount = (prefix: string, target: Mountable) => {
    const part = mounted(prefix, target)
    noteMount(server.handler, prefix, handlerOf(target))
    add(part)
  }
  const chained = { resource: addResource, prompt: addPrompt, mount }
  const server = faceOf<Server>(core, chained, { removeResource, removePrompt, resourceUpdated })
  return server
}
