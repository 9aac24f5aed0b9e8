import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { storeContract } from '@mcpx/testing'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { durableObjectStore } from './index.ts'

/** The path of the workerd binary. The command `workerd` is a wrapper that starts it as a child process. */
const workerd: string = createRequire(import.meta.url)('workerd').default

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "main", esModule = embed "worker.js")],
    bindings = [(name = "STORE", durableObjectNamespace = "TestStore")],
    durableObjectNamespaces = [(className = "TestStore", uniqueKey = "store", enableSql = true)],
    durableObjectStorage = (localDisk = "disk"),
    compatibilityDate = "2026-01-01",
  )), (name = "disk", disk = (path = "objects", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`

describe('a store in Durable Objects', () => {
  const folder = mkdtempSync(join(tmpdir(), 'workerd-'))
  let child: ChildProcess
  let port = 0
  beforeAll(async () => {
    await build({
      entryPoints: [fileURLToPath(new URL('worker.fixture.ts', import.meta.url))],
      outfile: join(folder, 'worker.js'),
      bundle: true,
      format: 'esm',
      conditions: ['source', 'workerd', 'worker'],
    })
    mkdirSync(join(folder, 'objects'))
    writeFileSync(join(folder, 'config.capnp'), config)
    child = spawn(workerd, ['serve', 'config.capnp', '--control-fd=1'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`workerd ended with ${code}`)))
    const [message] = await Promise.race([once(child.stdout as NodeJS.EventEmitter, 'data'), ended])
    ended.catch(() => {})
    port = JSON.parse(String(message)).port
  })
  afterAll(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  const request = async (name: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/?case=${encodeURIComponent(name)}`)
    return response.text()
  }

  const unreachable = durableObjectStore({ idFromName: () => '', get: () => ({ fetch: () => Promise.reject() }) })
  const cases = storeContract(() => unreachable, { interrupt: async () => {} })
  it.each(cases.map(({ name }) => name))('%s', async (name) => {
    expect(await request(name)).toBe('passed')
  })

  it('deletes everything when the time to live has passed, and stores nothing when it reads', async () => {
    expect(JSON.parse(await request('expiry'))).toEqual({
      stored: [0, 0, 2, 2],
      used: [0, 0, 2, 0],
      expired: [0, 0, 0, 0],
    })
  })
})
