/** A hand-written resource handler with its own pagination, as for a database, mounted under a prefix. */
import type { ResourceHandler } from '@mcpx/protocol'
import { parseUriTemplate } from '@mcpx/protocol/uri-template'
import { invalidParams, resourceNotFound, type Server } from '@mcpx/server'

const BOOKS = 25
const PAGE_SIZE = 10
const book = parseUriTemplate('book://{number}')

const catalogue: ResourceHandler = {
  listResources({ cursor }) {
    const start = cursor === undefined ? 1 : Number(cursor)
    if (!Number.isInteger(start) || start < 1 || start > BOOKS)
      throw invalidParams(`Invalid cursor: no page at ${cursor}`)
    const numbers = Array.from({ length: Math.min(PAGE_SIZE, BOOKS - start + 1) }, (_, index) => start + index)
    const resources = numbers.map((number) => ({ uri: book.expand({ number }), name: `Book ${number}` }))
    return start + PAGE_SIZE > BOOKS ? { resources } : { resources, nextCursor: String(start + PAGE_SIZE) }
  },
  readResource({ uri }) {
    const number = Number(book.match(uri)?.number)
    if (!(number >= 1 && number <= BOOKS)) throw resourceNotFound(uri)
    return { contents: [{ uri, mimeType: 'text/plain', text: `This is book ${number}.` }] }
  },
}

export function mountCatalogue(server: Server): void {
  server.mount('library', catalogue)
}
