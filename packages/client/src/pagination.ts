/** Lists that come in pages, read one by one as far as they are wanted. */

import { ConnectionError, ErrorCode, type JsonObject, RpcError } from '@mcpx/protocol'

/** A list on the server. Nothing is asked until it is iterated over; each iteration begins with the first page. */
export interface Listing<Item> extends AsyncIterable<Item> {
  /** Page by page. */
  pages(): AsyncIterable<readonly Item[]>
  /** All items at once. */
  all(): Promise<Item[]>
}

export interface PageSource<Item> {
  readonly method: string
  /** How many pages are read at most. */
  readonly maxPages: number
  /** One page, as it came. */
  fetch(params: JsonObject): Promise<{ readonly nextCursor?: string | undefined }>
  itemsOf(page: object): readonly Item[]
  /** The server does not know a cursor that it gave: what is kept of the list belongs to another one. */
  onStale(): void
}

export function createListing<Item>(source: PageSource<Item>): Listing<Item> {
  async function all(isRetry: boolean): Promise<Item[]> {
    const items: Item[] = []
    let isStale = false
    const onStale = () => {
      source.onStale()
      isStale = true
    }
    try {
      for await (const page of readPages({ ...source, onStale })) items.push(...page)
      return items
    } catch (error) {
      // The list changed underneath: what was read is of no use together with what comes now.
      if (!isStale || isRetry) throw error
      return all(true)
    }
  }

  return {
    pages: () => readPages(source),
    all: () => all(false),
    async *[Symbol.asyncIterator]() {
      for await (const page of readPages(source)) yield* page
    },
  }
}

/** A cursor is whatever the server says, the empty text included: only its absence ends the list. */
async function* readPages<Item>(source: PageSource<Item>): AsyncGenerator<readonly Item[]> {
  const { method, maxPages } = source
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let count = 1; ; count += 1) {
    const page = await fetchPage(source, cursor)
    yield source.itemsOf(page)
    cursor = page.nextCursor
    if (cursor === undefined) return
    if (seen.has(cursor)) throw repeatedCursor(method, count)
    if (count >= maxPages) throw tooManyPages(method, maxPages)
    seen.add(cursor)
  }
}

async function fetchPage<Item>(source: PageSource<Item>, cursor: string | undefined) {
  try {
    return await source.fetch(cursor === undefined ? {} : { cursor })
  } catch (error) {
    if (cursor === undefined || !(error instanceof RpcError) || error.code !== ErrorCode.InvalidParams) throw error
    source.onStale()
    throw error
  }
}

function repeatedCursor(method: string, pages: number): ConnectionError {
  return new ConnectionError(
    'invalid-message',
    `${method} goes round in circles: page ${pages} has a cursor seen before`,
  )
}

function tooManyPages(method: string, maxPages: number): ConnectionError {
  const hint = 'Pass a larger maxPages, or stop iterating earlier.'
  return new ConnectionError('limit', `${method} has more than ${maxPages} pages`, { hint })
}
