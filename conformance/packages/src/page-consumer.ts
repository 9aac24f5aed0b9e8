/** A consumer that builds a page with Vite, in which the client of the README calls the server from another origin. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { end, start } from '@mcpx/conformance-runtimes/programs'
import { visit } from '@mcpx/conformance-runtimes/visit'
import { type Consumer, type Home, normalizeOutput, runClientAndServer, writeProgram } from './consumers.ts'
import { freePort, readFrontPage } from './front-page.ts'
import { run } from './tool.ts'

/** A script that sends the output and errors of the page to its server. */
const reportScript = `const tell = (line) => fetch('/output', { method: 'POST', body: line })
console.log = (...values) => tell(values.map((each) => typeof each === 'string' ? each : JSON.stringify(each)).join(' '))
for (const kind of ['error', 'unhandledrejection'])
  addEventListener(kind, (event) => tell('failed: ' + (event.reason ?? event.message)))
`

/** Runs the page in Chromium if it is installed, otherwise the bundle on Node. */
export function page(home: Home, chromium: { path: string; version: string } | undefined): Consumer {
  const where =
    chromium === undefined ? 'run on Node, because Chromium is not installed' : `in Chromium ${chromium.version}`
  return {
    name: `a page, built by Vite, ${where}`,
    async faults() {
      const port = await freePort()
      const prints = writeProgram(home, 'vite', '.mjs', port)
      const error = await build(home, port, chromium !== undefined)
      if (error !== '') return error
      if (chromium !== undefined) return visitPage(home, chromium.path, prints)
      const server = [process.execPath, join(home.folder, 'vite-server.mjs')]
      return runClientAndServer(server, [process.execPath, join(home.folder, 'page/assets', scriptOf(home))], prints)
    },
  }
}

async function build({ folder, repository }: Home, port: number, isForPage: boolean): Promise<string> {
  writeFileSync(join(folder, 'say.js'), isForPage ? reportScript : '')
  writeFileSync(join(folder, 'client.js'), readFrontPage(repository, port).client)
  writeFileSync(join(folder, 'page.js'), "import './say.js'\nimport './client.js'\n")
  writeFileSync(join(folder, 'index.html'), '<!doctype html><script type="module" src="/page.js"></script>\n')
  const settings = { target: 'es2022', modulePreload: false, outDir: 'page' }
  writeFileSync(join(folder, 'vite.config.js'), `export default { build: ${JSON.stringify(settings)} }\n`)
  const { code, output } = await run('node', [join(folder, 'node_modules/vite/bin/vite.js'), 'build'], folder)
  return code !== 0 || /externalized|warn/i.test(output) ? `vite build printed:\n${output}` : ''
}

const scriptOf = ({ folder }: Home): string =>
  readdirSync(join(folder, 'page/assets')).find((name) => /^index-.*\.js$/.test(name)) ?? ''

async function visitPage(home: Home, chromium: string, prints: string): Promise<string> {
  const site = await servePage(join(home.folder, 'page'))
  const file = join(home.folder, 'vite-server.mjs')
  // Adds the CORS option that a page needs to the server of the README.
  const allowed = readFileSync(file, 'utf8').replace(/\{ port: (\d+) \}/, `{ port: $1, cors: ['${site.origin}'] }`)
  writeFileSync(file, allowed)
  const serving = start(process.execPath, [file])
  try {
    await serving.line(/^http:/)
    const output = await visit(chromium, `${site.origin}/`, site.output)
    return normalizeOutput(output.replace(/"(\w+)":/g, '$1:')) === normalizeOutput(prints)
      ? ''
      : `expected the output\n${prints}\ngot\n${output}`
  } catch (error) {
    return error instanceof Error ? error.message : `${error}`
  } finally {
    end(serving)
    site.close()
  }
}

/** Serves a folder. `output` resolves to the first line that the page sends. */
async function servePage(folder: string): Promise<{ origin: string; output: Promise<string>; close(): void }> {
  const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' }
  let resolveOutput: (line: string) => void = () => {}
  const output = new Promise<string>((resolve) => {
    resolveOutput = resolve
  })
  const files = new Map<string, string>(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => extname(name) !== '')
      .map((name) => [`/${name}`, join(folder, name)] as const),
  )
  const server = createServer(async (request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '')
    const found = files.get(path)
    if (path === '/output') resolveOutput(await text(request))
    if (found === undefined) response.writeHead(path === '/output' ? 204 : 404).end()
    else response.setHeader('content-type', types[extname(found)] ?? 'text/plain').end(readFileSync(found))
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { origin: `http://localhost:${port}`, output, close: () => void server.close().closeAllConnections() }
}
