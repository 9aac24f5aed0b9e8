/**
 * A server process under load: `node server.ts <options as JSON>`. Over HTTP it sends its URL to its parent and answers the
 * message `look` with its resources; over stdio its tool `look` does.
 */

import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from '@mcpx/store-sqlite'
import { serveHttp } from '@mcpx/transport-http/node'
import { serveStdio } from '@mcpx/transport-stdio'
import { observeResources } from './resources.ts'
import { createLoadedServer, type Defect } from './tools.ts'

export interface ServerOptions {
  /** The SQLite file of the state that processes share. Default: the process serves stdio, and keeps its own state. */
  readonly file?: string
  /** The port to listen on. Default: any. */
  readonly port?: number
  readonly defect?: Defect | undefined
}

/** The reported errors and warnings, with their numbers. */
export type Problems = Readonly<Record<string, number>>

const MOST_PROBLEMS = 100

async function main(): Promise<void> {
  const { file, port = 0, defect } = JSON.parse(process.argv[2] ?? '{}') as ServerOptions
  const look = observeResources()
  const problems: Record<string, number> = {}
  const note = (problem: unknown) => {
    const text = String(problem)
      .replaceAll(/[0-9a-f-]{8,}|\d{3,}/g, '…')
      .slice(0, 200)
    if (text in problems || Object.keys(problems).length < MOST_PROBLEMS) problems[text] = (problems[text] ?? 0) + 1
  }
  const store =
    file === undefined ? undefined : sqliteStore(new DatabaseSync(file), { eventTtl: 15_000, onWarning: note })
  const { server, running } = createLoadedServer({ store, defect, onError: note })
  if (store === undefined) {
    server.tool('look', {}, () => JSON.stringify({ resources: look(), problems, running: running() }))
    server.tool('exit', {}, () => process.exit(9))
    await serveStdio(server)
    return
  }
  const { url } = await serveHttp(server, {
    port,
    sse: '/sse',
    keepAlive: 2_000,
    sessions: { ttl: 15_000, retry: 100, awayTimeout: 10_000 },
    sendTimeout: 10_000,
    limits: { perCaller: 1 },
    onWarning: note,
  })
  process.on('message', () => process.send?.({ resources: look(), problems, running: running() }))
  process.on('disconnect', () => process.exit())
  process.send?.({ url })
}

await main()
