/** Serves the page and its script, and receives the lines that the page reports. */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Starts the web server. `finished` resolves to the reported lines when the page is done. */
export async function servePage(): Promise<{ origin: string; finished: Promise<string[]>; close(): void }> {
  const html = await readFile(new URL('../page.html', import.meta.url))
  const entry = fileURLToPath(new URL('page.ts', import.meta.url))
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, minify: true, format: 'esm', write: false })
  const script = outputFiles[0]?.contents ?? ''
  console.log(`bundled: ${Math.round(script.length / 1000)} kB`)

  const lines: string[] = []
  let finish: (lines: string[]) => void = () => {}
  const finished = new Promise<string[]>((resolve) => {
    finish = resolve
  })
  const server = createServer(async (request, response) => {
    if (request.url === '/page.js') response.setHeader('content-type', 'text/javascript').end(script)
    else if (request.url === '/report') {
      const line = await text(request)
      response.end()
      if (line === 'done') finish(lines)
      else lines.push(line)
    } else response.setHeader('content-type', 'text/html').end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { origin: `http://localhost:${port}`, finished, close: () => void server.close().closeAllConnections() }
}
