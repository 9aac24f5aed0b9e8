/** A server that offers nothing but tools: it is put together of what these need. */

import type { Catalogue, Handler, Implementation, JsonSchemaValidator, Responder } from '@mcpx/protocol'
import { asksNothing } from './asks-nothing.ts'
import type { ServerLimits, Wire } from './core.ts'
import type { OnError } from './faults.ts'
import { compile, type RawCheck, toChecked } from './features/compiled-schema.ts'
import type { CacheHints } from './features/listing.ts'
import { RegistrationError } from './features/registration-error.ts'
import type { FluentTools, NoOffers } from './fluent.ts'
import type { Middleware } from './middleware.ts'
import { createServerCore, type ServerOptions } from './server-core.ts'
import { faceOf } from './server-face.ts'
import type { ToolContext } from './tool-context.ts'
import { draftRegistry } from './tool-registry.ts'

/** Answers messages of every revision that it serves, on any number of connections at once. */
export interface ToolServer<Offers extends Catalogue = NoOffers> extends FluentTools<Offers>, Responder {
  /** All that this server offers, with its middleware: to be mounted in a server of all kinds, or called. */
  readonly handler: Handler
  /** Puts a middleware that asks the client nothing around every request; the first one added is the outermost. */
  use(middleware: Middleware<ToolContext>): this
  /** Takes a tool away; clients are told. Whether there was one. */
  removeTool(name: string): boolean
  /** Ends open subscriptions; nothing else is kept. */
  close(): void
}

/** Those of every server that tools have a use for. */
export interface ToolServerOptions
  extends Pick<ServerOptions, 'instructions' | 'legacy' | 'logging' | 'pageSize' | 'warn'> {
  /** Hears of each fault in user code, whole, with the id that the client got to see instead. Default: `console.error`. */
  readonly onError?: OnError<ToolContext> | undefined
  /** How long, and for whom, the list of tools may be kept. Default: not at all. */
  readonly cache?: { readonly tools?: CacheHints } | undefined
  /**
   * Checks values against plain JSON Schemas, such as what `createJsonSchemaValidator` of `@mcpx/json-schema`
   * makes. Default: none, and a tool with a plain JSON Schema is refused.
   */
  readonly validator?: JsonSchemaValidator | undefined
  readonly limits?: Partial<Pick<ServerLimits, 'listens'>> | undefined
}

export function assembleTools(info: Implementation, options: ToolServerOptions, wire: Wire): ToolServer {
  if ('callTool' in options)
    throw new RegistrationError('createServer: add tools by .tool(); a handler is for createServer of "@mcpx/server"')
  const core = createServerCore(info, options as ServerOptions, {
    wire,
    createRequestState: () => asksNothing,
    offer(use) {
      const { registry } = draftRegistry(use, checkRaw)
      return { registry, parts: [registry], handler: registry }
    },
  })
  return faceOf<ToolServer>(core, {}, {})
}

const checkRaw: RawCheck = (schema, { where, root, validator }) => {
  if (validator === undefined) throw new RegistrationError(`${where}: ${REMEDY}`)
  const compiled = compile(validator, schema, where)
  return (value) => toChecked(compiled, value, root)
}

const REMEDY =
  'to check values against JSON Schema takes a validator; import { createJsonSchemaValidator } from "@mcpx/json-schema", and ' +
  'call createServer(info, { validator: createJsonSchemaValidator() })'
