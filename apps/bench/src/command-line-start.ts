/**
 * Measures a cold start of `mcpx call` with a server in a file, and compares it with `node -e 0`.
 * `npm run build && node apps/bench/src/command-line-start.ts [path of another node]`
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const RUNS = 25
const root = fileURLToPath(new URL('../../..', import.meta.url))
const node = process.argv[2] ?? process.execPath
const main = join(root, 'packages/cli/dist/main.js')
// The folder is inside this package, so that the server finds its dependencies.
const cache = join(root, 'apps/bench/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'start-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const source = `import { createServer } from '@mcpx/server'
import { z } from 'zod'
export const server = createServer({ name: 'math', version: '1.0.0' }).tool(
  'add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b))
`
for (const name of ['server.mjs', 'server.ts']) writeFileSync(join(folder, name), source)

const call = (file: string) => [main, 'call', join(folder, file), 'add', 'a=1', 'b=2']
const commands: Readonly<Record<string, readonly string[]>> = {
  'node -e 0': ['-e', '0'],
  'mcpx call server.mjs': call('server.mjs'),
  'mcpx call server.ts': call('server.ts'),
}
// Removes compiled code of earlier runs, by Node and by jiti.
const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1', JITI_FS_CACHE: 'false' }

const times = new Map(Object.keys(commands).map((name) => [name, [] as number[]]))
for (let run = 0; run < RUNS; run++) {
  for (const [name, args] of Object.entries(commands)) {
    const start = performance.now()
    execFileSync(node, args, { env, stdio: 'ignore' })
    times.get(name)?.push(performance.now() - start)
  }
}

const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
const median = (name: string) => times.get(name)?.sort((a, b) => a - b)[RUNS >> 1] ?? Number.NaN
console.log(`Node ${version}, median of ${RUNS} runs, ms over a bare node of ${median('node -e 0').toFixed(0)} ms`)
for (const name of Object.keys(commands).slice(1)) {
  console.log(`${name}: ${(median(name) - median('node -e 0')).toFixed(0)}`)
}
