/** Prints the number of functions of our packages that run in one `tools/call`, and of their files, with V8's precise coverage.
 * `node --conditions source apps/bench/src/trace-call.ts [--list]`
 */
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createServer } from '@mcpx/server'
import { serveHttp } from '@mcpx/transport-http/node'
import { z } from 'zod'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const input = z.object({ a: z.number(), b: z.number() })
const server = createServer({ name: 'trace', version: '1.0.0' }).tool('add', { input }, ({ a, b }) => String(a + b))
const { url, close } = await serveHttp(server, { port: 0 })

const profiler = new Session()
profiler.connect()
await profiler.post('Profiler.enable')
await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
// The first calls also run initialization code.
for (let n = 0; n < 3; n++) await call()
await profiler.post('Profiler.takePreciseCoverage')
await call()
const { result } = await profiler.post('Profiler.takePreciseCoverage')

const files = new Map<string, string[]>()
for (const { url: script, functions } of result) {
  if (!script.startsWith('file:')) continue
  const file = relative(root, fileURLToPath(script))
  if (!file.startsWith('packages/')) continue
  const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
  if (called.length > 0)
    files.set(
      file,
      called.map(({ functionName }) => functionName || '(anonymous)'),
    )
}
const count = [...files.values()].reduce((sum, names) => sum + names.length, 0)
console.log(`one modern tools/call through serveHttp: ${count} functions in ${files.size} files`)
if (process.argv.includes('--list')) {
  for (const [file, names] of [...files].sort(([a], [b]) => a.localeCompare(b)))
    console.log(`${file}: ${names.join(', ')}`)
}
profiler.disconnect()
await close()

async function call(): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'add',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'add',
        arguments: { a: 2, b: 3 },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'trace', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  })
  const text = await response.text()
  if (!text.includes('"text":"5"')) throw new Error(`unexpected response: ${response.status} ${text}`)
}
