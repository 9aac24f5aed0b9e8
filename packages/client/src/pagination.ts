/** Lists that servers send in pages. Each page is requested when it is read. */

import { ConnectionError, ErrorCode, type JsonObject, RpcError } from '@mcpx/protocol'

/**
 * A list of the server, to iterate over. Pages are requested while you iterate. Each iteration begins with the first
 * page.
 */
export interface Listing<Item> extends AsyncIterable<Item> {
  /** Returns the pages, to iterate over. */
  pages(): AsyncIterable<readonly Item[]>
  /** Resolves to all items. Rejects with a `ConnectionError` (reason `limit`) if they have more than 64 Mi characters as JSON. */
  all(): Promise<Item[]>
}

export interface PageSource<Item> {
  readonly method: string
  /** The maximum number of pages. */
  readonly maxPages: number
  /** Requests one page. */
  fetch(params: JsonObject): Promise<{ readonly nextCursor?: string | undefined }>
  itemsOf(page: object): readonly Item[]
  /** Called if the server refuses a cursor that it has sent, because cached pages then belong to an older list. */
  onStale(): void
  /** Called if the server ends the list with an empty cursor. */
  onRepeatedEnd(): void
}

/** The most characters of JSON of a list that is read as a whole, without its first page. */
const MAX_LIST_SIZE = 64 * 1024 * 1024

export function createListing<Item>(source: PageSource<Item>): Listing<Item> {
  async function all(isRetry: boolean): Promise<Item[]> {
    const items: Item[] = []
    let isStale = false
    let size = 0
    const onStale = () => {
      source.onStale()
      isStale = true
    }
    try {
      for await (const page of readPages({ ...source, onStale })) {
        // The transport limits the size of the first page.
        if (items.length > 0) size += JSON.stringify(page).length
        if (size > MAX_LIST_SIZE) throw listTooLarge(source.method)
        for (const item of page) items.push(item)
      }
      return items
    } catch (error) {
      // The list has changed, so earlier pages cannot be combined with new pages.
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

/**
 * Reads all pages. A cursor may be an empty string. Some servers send an empty cursor to end the list, and respond to
 * it with the first page. Such a repeated first page is left out, and the list ends.
 */
async function* readPages<Item>(source: PageSource<Item>): AsyncGenerator<readonly Item[]> {
  const { method, maxPages } = source
  const seen = new Set<string>()
  let first: readonly Item[] = []
  let cursor: string | undefined
  for (let count = 1; ; count += 1) {
    const page = await fetchPage(source, cursor)
    const items = source.itemsOf(page)
    const isLoop = cursor === '' && page.nextCursor === ''
    if (count === 1) first = items
    if (!isLoop || JSON.stringify(items) !== JSON.stringify(first)) yield items
    cursor = page.nextCursor
    if (isLoop) source.onRepeatedEnd()
    if (cursor === undefined || isLoop) return
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
  return new ConnectionError('invalid-message', `${method}: page ${pages} has the cursor of an earlier page`)
}

function listTooLarge(method: string): ConnectionError {
  const hint = 'Iterate over the list instead, which keeps one page at a time.'
  return new ConnectionError('limit', `${method} has more than ${MAX_LIST_SIZE} characters`, { hint })
}

function tooManyPages(method: string, maxPages: number): ConnectionError {
  const hint = 'Pass a larger maxPages, or stop iterating earlier.'
  return new ConnectionError('limit', `${method} has more than ${maxPages} pages`, { hint })
}
