/** Finds the input schemas of tools in the lists of a handler, for each caller. */

import {
  type AuthInfo,
  type Awaitable,
  type Context,
  type Exchange,
  type Handler,
  isTextKept,
  type JsonSchema,
  type ListToolsResult,
  principalOf,
} from '@mcpx/protocol'
import { type CallFacts, RequestContext } from './context.ts'
import { mirrorsArguments } from './features/header-annotations.ts'
import type { SearchSchemas } from './offered.ts'
import { whenDone } from './settle.ts'

/** The schemas of those tools of which an argument travels in a header. */
type Schemas = ReadonlyMap<string, JsonSchema>

interface Found {
  readonly schemas: Awaitable<Schemas>
  /** When the lists are to be read again. */
  readonly until: number
}

/** How long at least what was found is good, in ms: lists need not be kept by clients, yet calls come quickly. */
const SHORTEST = 10_000
/** For how many callers it is kept; the first to come is the first to be forgotten. */
const MOST_CALLERS = 1_000
const MOST_PAGES = 1_000

/** The one key of a list that is for everybody. */
const EVERYBODY = ''

/** Tools of lists that cannot be had have no schema. */
export const searchSchemas: SearchSchemas = (handler, report) => {
  const found = new Map<string, Found>()
  const readPage = createPageReader()

  function keep(key: string, schemas: Awaitable<Schemas>, until: number): void {
    found.delete(key)
    found.set(key, { schemas, until })
    if (found.size > MOST_CALLERS) found.delete(found.keys().next().value as string)
  }

  async function searchFor(key: string, ctx: Context): Promise<Schemas> {
    try {
      const { schemas, first } = await readLists(handler, ctx, readPage)
      found.delete(key)
      const until = Date.now() + Math.max(SHORTEST, first.ttlMs ?? 0)
      keep(first.cacheScope === 'public' ? EVERYBODY : key, schemas, until)
      return schemas
    } catch (error) {
      found.delete(key)
      report(error, ctx)
      return new Map()
    }
  }

  return (name, exchange, signal) => {
    const key = keyOf(exchange.auth)
    const fresh = [EVERYBODY, key].map((each) => found.get(each)).find((each) => each && Date.now() < each.until)
    const schemas = fresh?.schemas ?? searchFor(key, listingContext(exchange, signal()))
    // Whoever calls meanwhile waits for the same search.
    if (fresh === undefined) keep(key, schemas, Number.POSITIVE_INFINITY)
    return whenDone(schemas, (settled) => settled.get(name))
  }
}

/** What lists may go by. */
function keyOf(auth: AuthInfo | undefined): string {
  return auth === undefined ? 'nobody' : JSON.stringify([principalOf(auth), auth.clientId, auth.scopes])
}

type PageReader = (page: ListToolsResult) => ReadonlyMap<string, JsonSchema | undefined>

/** The whole list of a caller, and its first page, whose hints are those of the list. */
async function readLists(handler: Handler, ctx: Context, readPage: PageReader) {
  const schemas = new Map<string, JsonSchema>()
  const names = new Set<string>()
  let first: ListToolsResult | undefined
  let cursor: string | undefined
  for (let count = 0; count < MOST_PAGES; count++) {
    const page = (await handler.listTools?.(cursor === undefined ? {} : { cursor }, ctx)) as ListToolsResult
    first ??= page
    for (const [name, schema] of readPage(page)) {
      // As with calls, the first of a name counts.
      if (schema !== undefined && !names.has(name)) schemas.set(name, schema)
      names.add(name)
    }
    cursor = page.nextCursor
    if (cursor === undefined) return { schemas, first }
  }
  throw new Error(`The list of tools has more than ${MOST_PAGES} pages`)
}

/** The names of a page, with the schemas of which an argument travels. What is written once is read once. */
function createPageReader(): PageReader {
  const known = new WeakMap<ListToolsResult, ReadonlyMap<string, JsonSchema | undefined>>()
  return (page) => {
    const before = known.get(page)
    if (before !== undefined) return before
    const tools = page.tools.toReversed()
    const read = new Map(tools.map(({ name, inputSchema: each }) => [name, mirrorsArguments(each) ? each : undefined]))
    if (isTextKept(page)) known.set(page, read)
    return read
  }
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
