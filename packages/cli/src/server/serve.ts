/** Serves the export of a file over HTTP. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveHttp, toNodeHandler } from '@mcpx/transport-http/node'
import { usageError } from '../output/errors.ts'
import type { LoadedServer } from './module-file.ts'

/** The address of an HTTP server. */
export interface ServeOptions {
  readonly host: string
  readonly port: string
  /** The path of the endpoint. Ignored for an app, which has its own paths. */
  readonly path: string
}

/** Serves a server or an app. */
export async function serveLoaded(
  loaded: LoadedServer,
  options: ServeOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  if (loaded.kind === 'server') {
    return serveHttp(loaded.server, { host: options.host, port: options.port, path: options.path }).catch(
      (error: unknown) => {
        if (error instanceof TypeError || error instanceof RangeError) throw usageError(error.message)
        throw error
      },
    )
  }
  const { host, port } = options
  const handler = toNodeHandler({ fetch: (request: Request) => loaded.fetch(request) })
  const http = createServer((request, response) => void handler(request, response))
  try {
    http.listen(Number(port), host)
    await once(http, 'listening')
  } catch (cause) {
    throw usageError(
      `${host}:${port} cannot be used: ${(cause as NodeJS.ErrnoException).code}`,
      'Choose another port: --port 0',
    )
  }
  const { port: used } = http.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${used}`,
    async close() {
      http.close()
      http.closeAllConnections()
    },
  }
}
