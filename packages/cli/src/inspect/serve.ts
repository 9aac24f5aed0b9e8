/** Serves the page of `mcpx inspect` on one origin of this machine, and the documents of views on another one. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import type { LoadedView } from '@mcpx/apps/client'
import { toNodeHandler } from '@mcpx/transport-http/node'
import type { Hono } from 'hono'
import { usageError } from '../output/errors.ts'
import { createApp } from './app.ts'
import { Inspection, type InspectionOptions } from './inspection.ts'

const HOST = '127.0.0.1'
/** How many documents of views are kept. */
const MAX_VIEWS = 50

/** The options of `startInspector`. */
export interface InspectorOptions extends Omit<InspectionOptions, 'serveView'> {
  /** The port of the page. Default: a free port. */
  readonly port?: number | undefined
  /** The folder with the files of the page. Default: the build of this package. */
  readonly folder?: URL | undefined
}

/** A running inspector. */
export interface Inspector {
  /** The address of the page, with its token. */
  readonly url: string
  /**
   * An address that opens the page once. The browser is started with it, because other users of the machine can see the
   * arguments of a program.
   */
  readonly entryUrl: string
  readonly inspection: Inspection
  /** Stops serving the page, and closes the connection to the server. */
  close(): Promise<void>
}

/**
 * The folder with the page: `dist/page`. In the build, this code is in `dist/chunks`; in the repository, it is in
 * `src`.
 */
const PAGE = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/page/', import.meta.url)
  : new URL('../page/', import.meta.url)

/**
 * Serves the page on 127.0.0.1, and starts to connect to the server.
 *
 * @throws CliError if the port is in use
 */
export async function startInspector({ port = 0, folder = PAGE, ...options }: InspectorOptions): Promise<Inspector> {
  // Disable warnings: the page supports features that the newest revision deprecates, because servers use them.
  process.noDeprecation = true
  const [token, entrance] = [createSecret(), createSecret()]
  const views = new Views()
  const [page, viewServer] = [createServer(), createServer()]
  const origin = await listen(page, port)
  const viewOrigin = await listen(viewServer, 0).catch(async (error: unknown) => {
    await end(page)
    throw error
  })
  const inspection = new Inspection({
    ...options,
    serveView: (view, policy) => `${viewOrigin}/${views.add(view, policy)}`,
  })
  handle(page, createApp({ inspection, token, entrance, origin, viewOrigin, folder }))
  viewServer.on('request', (request, response) => {
    const view = views.get(request.url?.slice(1) ?? '')
    const isAllowed = request.method === 'GET' && request.headers.host === new URL(viewOrigin).host
    if (view === undefined || !isAllowed) return void response.writeHead(404).end()
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      // This policy also applies if the document is opened in a tab, without a sandboxed frame.
      'content-security-policy': `${view.policy}; frame-ancestors ${origin}; sandbox allow-scripts allow-forms`,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    response.end(view.html)
  })
  void inspection.connect()
  return {
    url: `${origin}/${token}/`,
    entryUrl: `${origin}/${entrance}`,
    inspection,
    async close() {
      await inspection.close()
      await Promise.all([end(page), end(viewServer)])
    },
  }
}

function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The documents of views, by addresses that cannot be guessed. */
class Views {
  readonly #documents = new Map<string, { readonly html: string; readonly policy: string }>()

  add({ html }: LoadedView, policy: string): string {
    const id = randomBytes(16).toString('base64url')
    this.#documents.set(id, { html, policy })
    const [oldest] = this.#documents.keys()
    if (this.#documents.size > MAX_VIEWS && oldest !== undefined) this.#documents.delete(oldest)
    return id
  }

  get(id: string): { readonly html: string; readonly policy: string } | undefined {
    return this.#documents.get(id)
  }
}

/** Listens on this machine only. Returns the origin. */
async function listen(server: Server, port: number): Promise<string> {
  try {
    server.listen(port, HOST)
    await once(server, 'listening')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw usageError(`--port: ${HOST}:${port} cannot be used: ${code}`, 'Choose another port, or leave --port out.')
  }
  return `http://${HOST}:${(server.address() as AddressInfo).port}`
}

function handle(server: Server, app: Hono): void {
  const handler = toNodeHandler(app)
  server.on('request', (request, response) => void handler(request, response))
}

async function end(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
