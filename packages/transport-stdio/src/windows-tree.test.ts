import { spawn as start } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { childArgs } from './child.fixture.ts'
import { lives, until } from './processes.fixture.ts'
import { node } from './servers.fixture.ts'

// Nothing here runs on Windows: its ways are taken by a process that believes to be there, with a `taskkill` of ours.
const tools = mkdtempSync(join(tmpdir(), 'taskkill-'))
const asked = join(tools, 'asked')
writeFileSync(join(tools, 'taskkill'), `#!/bin/sh\necho "$@" >> '${asked}'\nkill -9 "$2"\n`)
chmodSync(join(tools, 'taskkill'), 0o755)
afterAll(() => rmSync(tools, { recursive: true }))

/** Starts a server that ignores the end of its input, then does what is given; resolves to the server's id. */
async function onWindows(then: string): Promise<number> {
  const script = `
    Object.defineProperty(process, 'platform', { value: 'win32' })
    const { spawn } = await import(${JSON.stringify(new URL('./spawn.ts', import.meta.url).href)})
    const shutdown = { end: 50, terminate: 1000, kill: 1000 }
    const connector = spawn(process.execPath, ${JSON.stringify([...childArgs, 'deaf'])}, { stderr: 'ignore', shutdown })
    const connection = await connector.connect({ responder: { respond() {} }, report() {} })
    console.log((await connection.request('pid')).value)
    ${then}`
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module-typescript']
  const env = { ...process.env, PATH: `${tools}:${process.env.PATH}` }
  const child = start(node, [...flags, '-e', script], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
  return Number(output)
}

it.each([
  ['closing', 'await connection.close()'],
  ['exiting without closing', 'process.exit(0)'],
])('ends a server and all below it by taskkill on Windows, when %s [C-033]', async (_, then) => {
  const pid = await onWindows(then)
  expect(pid).toBeGreaterThan(0)
  await until(() => !lives(pid))
  expect(readFileSync(asked, 'utf8').trim().split('\n').at(-1)).toBe(`/pid ${pid} /T /F`)
})
