/**
 * A server process under load: `node server.ts <options as JSON>`. Over HTTP it sends its URL to its parent and answers the
 * message `look` with its resources; over stdio its tool `look` does.
 */

import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from '@mcpx/store-sqlite'
import { serveHttp } from '@mcpx/transport-http/node'
import { serveStdio } from '@mcpx/transport-stdio'
import type { ProcessReport } from './processes.ts'
import { observeResources } from './resources.ts'
import { createLoadedServer, type Defect } from './tools.ts'

export interface ServerOptions {
  /** The SQLite file of the state that processes share. Default: the process serves stdio, and keeps its own state. */
  readonly file?: string
  /** The port to listen on. Default: any. */
  readonly port?: number
  readonly defects?: readonly Defect[] | undefined
}

/** The reported errors and warnings, with their numbers. */
export type Problems = Readonly<Record<string, number>>

const MOST_PROBLEMS = 100

/** Returns the number of sessions that have not expired. */
function countSessions(database: DatabaseSync): number {
  const row = database.prepare('SELECT count(*) AS count FROM mcpx_sessions WHERE expires_at > ?').get(Date.now())
  return Number(row?.count)
}

async function main(): Promise<void> {
  const { file, port = 0, defects = [] } = JSON.parse(process.argv[2] ?? '{}') as ServerOptions
  const look = observeResources()
  const problems: Record<string, number> = {}
  const note = (problem: unknown) => {
    const text = String(problem)
      .replaceAll(/[0-9a-f-]{8,}|\d{3,}/g, '…')
      .slice(0, 200)
    if (text in problems || Object.keys(problems).length < MOST_PROBLEMS) problems[text] = (problems[text] ?? 0) + 1
  }
  const database = file === undefined ? undefined : new DatabaseSync(file)
  const store = database && sqliteStore(database, { eventTtl: 15_000, onWarning: note })
  const { server, running, messages, load } = createLoadedServer({ store, defects, onError: note })
  const report = (): ProcessReport => {
    const held = { ...load(), sessions: database === undefined ? 0 : countSessions(database) }
    return { resources: look(), problems, running: running(), messages: messages(), held }
  }
  if (store === undefined) {
    server.tool('look', {}, () => JSON.stringify(report()))
    server.tool('exit', {}, () => process.exit(9))
    await serveStdio(server)
    return
  }
  const { url } = await serveHttp(server, {
    port,
    sse: '/sse',
    keepAlive: 2_000,
    // The end of a run checks that no socket is left.
    keepAliveTimeout: 5_000,
    sessions: { ttl: defects.includes('sessions') ? 3_600_000 : 15_000, retry: 100, awayTimeout: 10_000 },
    sendTimeout: 10_000,
    limits: { perCaller: 1 },
    onWarning: note,
  })
  process.on('message', () => process.send?.(report()))
  process.on('disconnect', () => process.exit())
  process.send?.({ url })
}

await main()
