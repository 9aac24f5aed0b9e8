/** What a server offers, as its other parts see it. */

import type { Awaitable, Context, Exchange, Handler, JsonSchema } from '@mcpx/protocol'
import type { ToolRegistry } from './tool-registry.ts'

export interface Offered {
  readonly registry: ToolRegistry
  /** What it is made of. The very array of all times. */
  readonly parts: readonly Handler[]
  /** All of it, as it is now. */
  readonly handler: Handler
  /** Finds the schemas of tools that were not registered. Absent where there are no others. */
  readonly searchSchemas?: SearchSchemas
}

/** `report` hears of lists that cannot be had. */
export type SearchSchemas = (handler: Handler, report: (error: unknown, ctx: Context) => void) => SchemaSearch

/** Gives the schema of the tool of this name in the lists of whoever is asking. */
export type SchemaSearch = (
  name: string,
  exchange: Exchange,
  signal: () => AbortSignal,
) => Awaitable<JsonSchema | undefined>
