/** Runs the Worker of the README of @mcpx/store-cloudflare on workerd, as its `wrangler.jsonc` describes it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf } from './blocks.ts'
import { pathOf } from './documents.ts'

/** The path of the workerd binary. The command `workerd` is a wrapper that starts it as a child process. */
const workerd: string = createRequire(import.meta.url)('workerd').default
const here = fileURLToPath(new URL('..', import.meta.url))

interface Wrangler {
  readonly main: string
  readonly compatibility_date: string
  readonly compatibility_flags: readonly string[]
  readonly durable_objects: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] }
  readonly migrations: readonly { readonly new_sqlite_classes: readonly string[] }[]
}

const blocks = blocksOf(pathOf('packages/store-cloudflare/README.md'))
const textOf = (matches: (block: (typeof blocks)[number]) => boolean) => blocks.find(matches)?.text ?? ''
const jsonc = textOf(({ language }) => language === 'jsonc')
const wrangler = JSON.parse(jsonc.replace(/^\s*\/\/.*$/gm, '').replace(/,(\s*[\]}])/g, '$1')) as Wrangler
const worker = textOf(({ file }) => file === wrangler.main).replaceAll('shop.example.com', '127.0.0.1')

/** The configuration of workerd that means the same. */
function configuration(): string {
  const { compatibility_date, compatibility_flags, durable_objects, migrations } = wrangler
  const bindings = durable_objects.bindings.map(
    ({ name, class_name }) => `(name = "${name}", durableObjectNamespace = "${class_name}")`,
  )
  const classes = migrations.flatMap(({ new_sqlite_classes }) => new_sqlite_classes)
  const namespaces = classes.map((name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`)
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "main", esModule = embed "worker.js")],
    bindings = [(name = "SECRET", text = "the same 32 characters everywhere"), ${bindings.join(', ')}],
    durableObjectNamespaces = [${namespaces.join(', ')}],
    durableObjectStorage = (localDisk = "disk"),
    compatibilityDate = "${compatibility_date}",
    compatibilityFlags = ${JSON.stringify(compatibility_flags)},
  )), (name = "disk", disk = (path = "objects", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`
}

describe('the Worker of packages/store-cloudflare/README.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'workerd-'))
  let child: ChildProcess
  let url = ''
  beforeAll(async () => {
    await build({
      stdin: { contents: worker, loader: 'ts', resolveDir: here },
      outfile: join(folder, 'worker.js'),
      bundle: true,
      format: 'esm',
      conditions: ['source', 'workerd', 'worker'],
    })
    mkdirSync(join(folder, 'objects'))
    writeFileSync(join(folder, 'config.capnp'), configuration())
    const args = ['serve', 'config.capnp', '--control-fd=1']
    child = spawn(workerd, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`workerd ended with ${code}`)))
    const [message] = await Promise.race([once(child.stdout as NodeJS.EventEmitter, 'data'), ended])
    ended.catch(() => {})
    url = `http://127.0.0.1:${JSON.parse(String(message)).port}/mcp`
  })
  afterAll(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  // Each request reaches one of four instances, so nearly all of these changes cross instances.
  it.each(['modern', 'legacy'] as const)(
    'notifies clients of the %s era of the changes of all instances',
    async (era) => {
      await using listener = await connect(http(url), { era })
      await using caller = await connect(http(url), { era })
      const changes = listener.listen({ resourceSubscriptions: ['shop://status'] })
      await changes.ready
      for (let n = 0; n < 10; n++) {
        const { content } = await caller.callTool('announce')
        expect(content).toEqual([{ type: 'text', text: 'announced' }])
        expect((await changes.next()).value).toEqual({ kind: 'resource', uri: 'shop://status' })
      }
    },
  )
})
