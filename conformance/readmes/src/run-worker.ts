/** Bundles a Worker of a document and runs it on workerd, the runtime of Cloudflare. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** The path of the workerd binary. The command `workerd` is a wrapper that starts it as a child process. */
const workerd: string = createRequire(import.meta.url)('workerd').default

/** The members of a wrangler configuration that the guides use. */
export interface Wrangler {
  readonly main: string
  readonly compatibility_date: string
  readonly compatibility_flags?: readonly string[]
  readonly durable_objects?: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] }
  readonly migrations?: readonly { readonly new_sqlite_classes: readonly string[] }[]
}

type Strings = Readonly<Record<string, string>>

/**
 * Starts a Worker. Returns the URL of its endpoint, and a function that stops it.
 *
 * @param files the contents of the files by their paths
 * @param secrets the values of the secrets by their names
 */
export async function runWorker(wrangler: Wrangler, files: Strings, secrets: Strings) {
  const folder = mkdtempSync(join(tmpdir(), 'workerd-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  await build({
    entryPoints: [join(folder, wrangler.main)],
    nodePaths: [fileURLToPath(new URL('../node_modules', import.meta.url))],
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    conditions: ['source', 'workerd', 'worker'],
  })
  mkdirSync(join(folder, 'objects'))
  writeFileSync(join(folder, 'config.capnp'), configurationOf(wrangler, secrets))
  const args = ['serve', 'config.capnp', '--control-fd=1']
  const child = spawn(workerd, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(([status]) => Promise.reject(new Error(`workerd ended with ${status}`)))
  const [message] = await Promise.race([once(child.stdout, 'data'), ended])
  ended.catch(() => {})
  return {
    url: `http://127.0.0.1:${JSON.parse(String(message)).port}/mcp`,
    stop() {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The configuration of workerd that means the same. */
function configurationOf(wrangler: Wrangler, secrets: Strings): string {
  const { compatibility_date, compatibility_flags = [], durable_objects, migrations = [] } = wrangler
  const classes = migrations.flatMap(({ new_sqlite_classes }) => new_sqlite_classes)
  const bindings = [
    ...Object.entries(secrets).map(([name, value]) => `(name = "${name}", text = "${value}")`),
    ...(durable_objects?.bindings ?? []).map(
      ({ name, class_name }) => `(name = "${name}", durableObjectNamespace = "${class_name}")`,
    ),
  ]
  const namespaces = classes.map((name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`)
  const storage = `durableObjectNamespaces = [${namespaces.join(', ')}], durableObjectStorage = (localDisk = "disk"),`
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "main", esModule = embed "worker.js")],
    bindings = [${bindings.join(', ')}],
    ${namespaces.length === 0 ? '' : storage}
    compatibilityDate = "${compatibility_date}",
    compatibilityFlags = ${JSON.stringify(compatibility_flags)},
  )), (name = "disk", disk = (path = "objects", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`
}
