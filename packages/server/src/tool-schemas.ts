/** The input schemas of the tools of a server, as its lists show them: for carriers that mirror arguments in headers. */

import type { Awaitable, Context, Exchange, Handler, JsonSchema } from '@mcpx/protocol'
import type { Core } from './core.ts'
import type { Offered, SchemaSearch } from './offered.ts'

/** The schema of a tool, for the caller of an exchange. Never throws. */
export type ToolSchemas = (name: string, exchange: Exchange) => Awaitable<JsonSchema | undefined>

export function createToolSchemas({ faults, closing }: Core, offered: Offered): ToolSchemas {
  const report = (error: unknown, ctx?: Context): void => void faults.report(error, ctx)
  const { registry } = offered
  let searched: Handler | undefined
  let search: SchemaSearch | undefined
  return (name, exchange) => {
    try {
      const { handler } = offered
      // What is registered comes before all other parts.
      if (handler === registry || registry.owns?.('tool', name)) return registry.schemaOf(name, exchange.auth)
      if (handler.listTools === undefined) return undefined
      if (searched !== handler) search = offered.searchSchemas?.(handler, report)
      searched = handler
      return search?.(name, exchange, closing)
    } catch (error) {
      report(error)
      return undefined
    }
  }
}
