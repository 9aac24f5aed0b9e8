/** Starts Workers with Durable Objects on workerd, the runtime of Cloudflare. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { ObjectNamespace, ObjectResponse, PlatformSocket } from './platform.ts'

/** The path of the workerd binary. The command `workerd` is a wrapper that starts it as a child process. */
const workerd: string = createRequire(import.meta.url)('workerd').default

export interface RunningWorker {
  readonly port: number
  /** Kills the process and starts it again, at another port, with the objects that it has stored. */
  restart(): Promise<void>
  stop(): void
}

/**
 * Bundles a Worker and starts it.
 *
 * @param classes the classes of Durable Objects by the names of their bindings
 */
export async function startWorker(entry: URL, classes: Readonly<Record<string, string>>): Promise<RunningWorker> {
  const folder = mkdtempSync(join(tmpdir(), 'workerd-'))
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    conditions: ['source', 'workerd', 'worker'],
  })
  mkdirSync(join(folder, 'objects'))
  writeFileSync(join(folder, 'config.capnp'), configOf(classes))
  let { child, port } = await start(folder)
  return {
    get port() {
      return port
    },
    async restart() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      ;({ child, port } = await start(folder))
    },
    stop() {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function start(folder: string) {
  const child = spawn(workerd, ['serve', 'config.capnp', '--control-fd=1'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`workerd ended with ${code}`)))
  const [message] = await Promise.race([once(child.stdout, 'data'), ended])
  ended.catch(() => {})
  return { child, port: Number(JSON.parse(String(message)).port) }
}

/** Returns the objects of the Worker of `worker.fixture.ts`, which a process of Node uses over HTTP. */
export function objectsAt(port: number): ObjectNamespace {
  return {
    idFromName: (name) => name,
    get: (name: string) => ({
      async fetch(_url, { headers, ...init } = {}) {
        const place = `127.0.0.1:${port}/object?name=${encodeURIComponent(name)}`
        if (headers?.upgrade === 'websocket')
          return { status: 101, webSocket: await openSocket(place), text: async () => '' }
        return fetch(`http://${place}`, init) as Promise<ObjectResponse>
      },
    }),
  }
}

/** Opens a WebSocket that delivers messages after `accept`, as the platform does. */
async function openSocket(place: string): Promise<PlatformSocket> {
  const socket = new WebSocket(`ws://${place}`)
  const early: unknown[] = []
  const listeners: ((event: { data: unknown }) => void)[] = []
  socket.addEventListener('message', ({ data }) => {
    if (listeners.length === 0) early.push(data)
    for (const listener of listeners) listener({ data })
  })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error(`no WebSocket at ${place}`)))
  })
  return {
    get readyState() {
      return socket.readyState
    },
    accept() {},
    send: (message) => socket.send(message),
    close: () => socket.close(),
    addEventListener(type: string, listener: (event: { readonly data: unknown }) => void) {
      if (type !== 'message') return socket.addEventListener(type, listener as () => void)
      listeners.push(listener)
      for (const data of early.splice(0)) listener({ data })
    },
  }
}

/** The objects run in a separate service, as if they ran on another machine: they do not see globals of the Worker. */
function configOf(classes: Readonly<Record<string, string>>): string {
  const bindings = Object.entries(classes).map(
    ([name, each]) => `(name = "${name}", durableObjectNamespace = (className = "${each}", serviceName = "objects"))`,
  )
  const namespaces = Object.values(classes).map(
    (each) => `(className = "${each}", uniqueKey = "${each}", enableSql = true)`,
  )
  const worker = `modules = [(name = "main", esModule = embed "worker.js")],
    bindings = [${bindings.join(', ')}],
    compatibilityDate = "2026-01-01",
    compatibilityFlags = ["enable_request_signal"],`
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    ${worker}
  )), (name = "objects", worker = (
    ${worker}
    durableObjectNamespaces = [${namespaces.join(', ')}],
    durableObjectStorage = (localDisk = "disk"),
  )), (name = "disk", disk = (path = "objects", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`
}
