/** The input schemas of the tools of a handler, as its lists show them: for carriers that mirror arguments in headers. */

import {
  type AuthInfo,
  type Awaitable,
  type CacheableResult,
  type Context,
  type Exchange,
  type Handler,
  isPromise,
  isTextKept,
  type JsonSchema,
  type ListToolsResult,
  principalOf,
} from '@mcpx/protocol'
import { type CallFacts, RequestContext } from './context.ts'
import type { Core } from './core.ts'
import { mirrorsArguments } from './features/header-annotations.ts'
import type { Registry } from './registry.ts'

/** The schemas of those tools of which an argument travels in a header. */
type Schemas = ReadonlyMap<string, JsonSchema>

/** The schema of a tool, for the caller of an exchange. Never throws. */
export type ToolSchemas = (name: string, exchange: Exchange) => Awaitable<JsonSchema | undefined>

/** Asks the handler itself, as middleware does that looks for a tool: it is no request that others should see. */
export function createToolSchemas(core: Core, registry: Registry): ToolSchemas {
  const report = (error: unknown, ctx?: Context): void => void core.faults.report(error, ctx)
  let searched: Handler | undefined
  let search: SchemaSearch | undefined
  return (name, exchange) => {
    try {
      const { handler } = core
      // What is registered comes before all other parts.
      if (handler === registry || registry.owns?.('tool', name)) return registry.schemaOf(name, exchange.auth)
      if (searched !== handler) search = createSchemaSearch(handler, report)
      searched = handler
      return search?.(name, listingContext(exchange, core.closing))
    } catch (error) {
      report(error)
      return undefined
    }
  }
}

export type SchemaSearch = (name: string, ctx: Context) => Awaitable<JsonSchema | undefined>

interface Found {
  schemas: Awaitable<Schemas>
  /** When the lists are to be read again. */
  until: number
}

/** How long at least what was found is good, in ms: lists need not be kept by clients, yet calls come quickly. */
const SHORTEST = 10_000
/** For how many callers it is kept; the first to come is the first to be forgotten. */
const MOST_CALLERS = 1_000
const MOST_PAGES = 1_000

/** The one key of a list that is for everybody. */
const EVERYBODY = ''

/** `report` hears of lists that cannot be had; their tools have no schema then. */
export function createSchemaSearch(handler: Handler, report: (error: unknown, ctx: Context) => void): SchemaSearch {
  const found = new Map<string, Found>()
  const pages = new WeakMap<ListToolsResult, Schemas>()

  function schemasOf(ctx: Context): Awaitable<Schemas> {
    const key = keyOf(ctx.auth)
    const known = fresh(EVERYBODY) ?? fresh(key)
    if (known !== undefined) return known.schemas
    const search = readLists(handler, ctx, (page) => annotatedIn(page, pages)).then(
      ({ schemas, hints }) => {
        found.delete(key)
        const until = Date.now() + Math.max(SHORTEST, hints.ttlMs ?? 0)
        keep(hints.cacheScope === 'public' ? EVERYBODY : key, { schemas, until })
        return schemas
      },
      (error) => {
        found.delete(key)
        report(error, ctx)
        return new Map()
      },
    )
    // Whoever calls meanwhile waits for the same search.
    keep(key, { schemas: search, until: Number.POSITIVE_INFINITY })
    return search
  }

  function fresh(key: string): Found | undefined {
    const known = found.get(key)
    return known !== undefined && Date.now() < known.until ? known : undefined
  }

  function keep(key: string, entry: Found): void {
    found.delete(key)
    found.set(key, entry)
    if (found.size > MOST_CALLERS) found.delete(found.keys().next().value as string)
  }

  return (name, ctx) => {
    if (handler.listTools === undefined) return undefined
    const schemas = schemasOf(ctx)
    return isPromise(schemas) ? schemas.then((settled) => settled.get(name)) : schemas.get(name)
  }
}

/** What lists may go by. */
function keyOf(auth: AuthInfo | undefined): string {
  return auth === undefined ? 'nobody' : JSON.stringify([principalOf(auth), auth.clientId, auth.scopes])
}

async function readLists(
  handler: Handler,
  ctx: Context,
  read: (page: ListToolsResult) => Schemas,
): Promise<{ schemas: Schemas; hints: CacheableResult }> {
  const schemas = new Map<string, JsonSchema>()
  const names = new Set<string>()
  let page = (await handler.listTools?.({}, ctx)) as ListToolsResult
  const hints = { ttlMs: page.ttlMs, cacheScope: page.cacheScope } as CacheableResult
  for (let count = 1; ; count++) {
    const annotated = read(page)
    for (const { name } of page.tools) {
      const schema = annotated.get(name)
      // As with calls, the first of a name counts.
      if (schema !== undefined && !names.has(name)) schemas.set(name, schema)
      names.add(name)
    }
    const { nextCursor } = page
    if (nextCursor === undefined) return { schemas, hints }
    if (count >= MOST_PAGES) throw new Error(`The list of tools has more than ${MOST_PAGES} pages`)
    page = (await handler.listTools?.({ cursor: nextCursor }, ctx)) as ListToolsResult
  }
}

/** What is written once is read once. */
function annotatedIn(page: ListToolsResult, pages: WeakMap<ListToolsResult, Schemas>): Schemas {
  const known = pages.get(page)
  if (known !== undefined) return known
  const schemas = new Map<string, JsonSchema>()
  const names = new Set<string>()
  for (const { name, inputSchema } of page.tools) {
    if (!names.has(name) && mirrorsArguments(inputSchema)) schemas.set(name, inputSchema)
    names.add(name)
  }
  if (isTextKept(page)) pages.set(page, schemas)
  return schemas
}

/** What a handler is called with where no request is answered: nothing can be said or asked, and who calls may be many. */
export function listingContext({ auth, requestInfo }: Exchange, signal: AbortSignal): Context {
  return new RequestContext({}, { signal, auth, requestInfo, session: undefined, notify() {} }, nothingKnown)
}

const nothingKnown: CallFacts = {
  client: { info: undefined, capabilities: {} },
  logLevel: undefined,
  notify() {},
  createAsker() {
    throw new Error('Nobody can be asked: no request of a client is being answered')
  },
}
