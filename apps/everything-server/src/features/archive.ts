/** A mounted server with its own page size and limits. */
import { createServer, SERVER_LIMITS, type Server } from '@mcpx/server'

const YEARS = Array.from({ length: 25 }, (_, index) => 2001 + index)

export function createArchive(): Server {
  const archive = createServer(
    { name: 'archive', version: '1.0.0' },
    {
      pageSize: 10,
      limits: { rounds: SERVER_LIMITS.rounds / 2, listens: 100, perCaller: 0.5, subscriptions: YEARS.length },
    },
  )
  for (const year of YEARS)
    archive.resource(`report://${year}`, { name: `Report of ${year}` }, `${year} was a good year.`)
  return archive
}

export function mountArchive(server: Server): void {
  server.mount('archive', createArchive())
}
