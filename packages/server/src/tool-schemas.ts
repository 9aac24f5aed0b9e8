/** Finds the input schemas of tools, because HTTP transports repeat some arguments in headers. */

import {
  type AuthInfo,
  type Awaitable,
  type Exchange,
  type Handler,
  type JsonObject,
  type JsonSchema,
  type ListToolsResult,
  principalOf,
} from '@mcpx/protocol'
import { createInternalContext } from './context.ts'
import type { Faults } from './errors.ts'
import { mirrorsArguments } from './schemas.ts'

/** The input schemas of tools whose arguments are repeated in headers, by tool name. */
type Schemas = ReadonlyMap<string, JsonSchema>

interface CacheEntry {
  readonly schemas: Promise<Schemas> | Schemas
  readonly expiresAt: number
}

/** The shortest time that schemas are cached, in ms. It also applies to lists that clients may not cache. */
const MIN_TTL = 10_000
const MAX_CALLERS = 1_000
const MAX_PAGES = 1_000

/** The cache key of a list that is the same for all callers. */
const EVERYBODY = ''

/** Reads the schemas from the tool list of a handler, per caller. If listing fails, reports the error and returns no schemas. */
export class ListedSchemas {
  readonly #handler: Handler
  readonly #faults: Faults
  readonly #closing: AbortSignal
  readonly #cache = new Map<string, CacheEntry>()

  constructor(handler: Handler, faults: Faults, closing: AbortSignal) {
    this.#handler = handler
    this.#faults = faults
    this.#closing = closing
  }

  /** Finds the input schema of a tool. Returns a promise only if the list has to be read. */
  find(tool: string, { auth, requestInfo }: Exchange): Awaitable<JsonSchema | undefined> {
    const key = keyOf(auth)
    const known = this.#fresh(EVERYBODY) ?? this.#fresh(key)
    if (known instanceof Map) return known.get(tool)
    const schemas = (known as Promise<Schemas> | undefined) ?? this.#read(key, { auth, requestInfo })
    return schemas.then((found) => found.get(tool))
  }

  #fresh(key: string): CacheEntry['schemas'] | undefined {
    const entry = this.#cache.get(key)
    return entry !== undefined && Date.now() < entry.expiresAt ? entry.schemas : undefined
  }

  #store(key: string, schemas: CacheEntry['schemas'], expiresAt: number): void {
    this.#cache.delete(key)
    this.#cache.set(key, { schemas, expiresAt })
    if (this.#cache.size > MAX_CALLERS) this.#cache.delete(this.#cache.keys().next().value as string)
  }

  #read(key: string, caller: Pick<Exchange, 'auth' | 'requestInfo'>): Promise<Schemas> {
    const ctx = createInternalContext(caller, this.#closing)
    const reading = (async () => {
      try {
        const { schemas, ttlMs, cacheScope } = await readList(this.#handler, ctx)
        this.#cache.delete(key)
        this.#store(cacheScope === 'public' ? EVERYBODY : key, schemas, Date.now() + Math.max(MIN_TTL, ttlMs ?? 0))
        return schemas
      } catch (error) {
        this.#cache.delete(key)
        this.#faults.report(error, ctx, { method: 'tools/list', params: {} })
        return new Map()
      }
    })()
    // Let calls that arrive in the meantime wait for the same list.
    this.#store(key, reading, Number.POSITIVE_INFINITY)
    return reading
  }
}

/** Returns the cache key of a caller, because lists depend on the caller. */
function keyOf(auth: AuthInfo | undefined): string {
  return auth === undefined ? 'nobody' : JSON.stringify([principalOf(auth), auth.clientId, auth.scopes])
}

/** Reads all pages. Returns the cache hints of the first page. */
async function readList(handler: Handler, ctx: ReturnType<typeof createInternalContext>) {
  const tools = new Map<string, JsonObject>()
  let first: ListToolsResult | undefined
  let cursor: string | undefined
  for (let count = 0; count < MAX_PAGES; count++) {
    const page = (await handler.listTools?.(cursor === undefined ? {} : { cursor }, ctx)) as ListToolsResult
    first ??= page
    // As in calls, the first tool with a name is used.
    for (const { name, inputSchema } of page.tools) {
      if (!tools.has(name)) tools.set(name, inputSchema)
    }
    cursor = page.nextCursor
    if (cursor === undefined) {
      const schemas = new Map([...tools].filter(([, schema]) => mirrorsArguments(schema)))
      return { schemas, ttlMs: first.ttlMs, cacheScope: first.cacheScope }
    }
  }
  throw new Error(`The list of tools has more than ${MAX_PAGES} pages`)
}
