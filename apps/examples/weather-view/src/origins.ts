/** Serves the host's page on one origin, and documents of views on another. */
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** A web server for one origin. */
export interface Origin {
  readonly origin: string
  close(): void
}

/** Serves the page of the host. */
export async function servePage(): Promise<Origin> {
  const html = await readFile(new URL('../page.html', import.meta.url))
  const entry = fileURLToPath(new URL('page.ts', import.meta.url))
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, minify: true, format: 'esm', write: false })
  return listen((request, response) => {
    if (request.url === '/page.js') response.setHeader('content-type', 'text/javascript').end(outputFiles[0]?.contents)
    else response.setHeader('content-type', 'text/html').end(html)
  })
}

/** Serves the document that the page has sent, with the content security policy of the document. */
export async function serveFrames(pageOrigin: () => string): Promise<Origin> {
  let view = { html: '', policy: "default-src 'none'" }
  return listen(async (request, response) => {
    response.setHeader('access-control-allow-origin', pageOrigin())
    if (request.method === 'POST' && request.headers.origin === pageOrigin()) view = JSON.parse(await text(request))
    else {
      response.setHeader('content-security-policy', view.policy)
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.write(view.html)
    }
    response.end()
  })
}

async function listen(listener: RequestListener): Promise<Origin> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, close: () => void server.close().closeAllConnections() }
}
