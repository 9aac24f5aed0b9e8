import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

/** The path of the workerd binary. The command `workerd` is a wrapper that starts it as a child process. */
const workerd: string = createRequire(import.meta.url)('workerd').default

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "main", esModule = embed "worker.js")],
    compatibilityDate = "2026-01-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`

it('a front runs in workerd, without an API of Node', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'front-'))
  await build({
    entryPoints: [fileURLToPath(new URL('worker.fixture.ts', import.meta.url))],
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    conditions: ['source', 'workerd', 'worker'],
  })
  writeFileSync(join(folder, 'config.capnp'), config)
  const child = spawn(workerd, ['serve', 'config.capnp', '--control-fd=1'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [message] = await once(child.stdout, 'data')
    const response = await fetch(`http://127.0.0.1:${JSON.parse(String(message)).port}/`)
    expect(JSON.parse(await response.text())).toEqual({
      subject: 'ada',
      upstream: 'upstream-access-2',
      refreshed: 200,
      secret: 43,
      page: true,
      metadata: 200,
      warnings: [],
    })
  } finally {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
})
