/** Bundles the worker as `wrangler` does, runs two instances on workerd, and places an order. `npm start` */
import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { build } from 'esbuild'
import type { Shop } from './worker.ts'

/** The path of the workerd binary. The command `workerd` is a wrapper that starts it as a child process. */
const workerd: string = createRequire(import.meta.url)('workerd').default
const folder = fileURLToPath(new URL('..', import.meta.url))
const { metafile } = await build({
  absWorkingDir: folder,
  entryPoints: ['src/worker.ts'],
  outfile: 'dist/worker.js',
  bundle: true,
  minify: true,
  format: 'esm',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['cloudflare:*'],
  metafile: true,
})
console.log(`bundled: ${Math.round((metafile.outputs['dist/worker.js']?.bytes ?? 0) / 1000)} kB without Node modules`)

const instances = [await start(), await start()]
let requests = 0
/** Sends each request to the next instance, as a load balancer does. */
const balanced: typeof fetch = (_, init) => fetch(instances[requests++ % instances.length]?.url ?? '', init)

try {
  await using shop = await connect<Shop>(http('https://shop.example.com/mcp', { fetch: balanced }), {
    onElicit: () => ({ action: 'accept', content: { table: 7 } }),
  })
  const { content } = await shop.callTool('order', { dish: 'Soup' })
  const [answer] = content
  assert.match(answer?.type === 'text' ? answer.text : '', /^Soup for table 7, receipt [\w-]{36}$/)
  console.log(
    `${shop.revision}: one instance took the payment and requested the input, the other one received the answer`,
  )

  await using legacy = await connect<Shop>(http('https://shop.example.com/mcp', { fetch: balanced }), { era: 'legacy' })
  const names = (await legacy.listTools().all()).map(({ name }) => name)
  assert.deepEqual(names, ['order'])
  console.log(`${legacy.revision}: listed without a session`)
} finally {
  for (const { stop } of instances) stop()
}
console.log('ok')

/** Starts an instance on a free port, which workerd prints on its standard output. */
async function start() {
  const args = ['serve', 'config.capnp', '--socket-addr=http=127.0.0.1:0', '--control-fd=1']
  const env = { ...process.env, SECRET: 'a secret that all instances share' }
  const child = spawn(workerd, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`workerd ended with ${code}`)))
  const [message] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer]
  ended.catch(() => {})
  const { port } = JSON.parse(message.toString()) as { port: number }
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => child.kill() }
}
