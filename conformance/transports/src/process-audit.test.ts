/** Misbehaving server processes: each call ends with a specific error, and no process is left. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, type ClientOptions, connect } from '@mcpx/client'
import { ConnectionError } from '@mcpx/protocol'
import { catchError, delay } from '@mcpx/testing'
import { type ServerExitError, type SpawnOptions, spawn } from '@mcpx/transport-stdio'
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { compileCache, fromSource } from './hosts.fixture.ts'

vi.setConfig({ testTimeout: 30_000 })

/** An environment variable that marks all started processes and their children. */
const mark = mkdtempSync(join(tmpdir(), 'audit-'))
const host = [...fromSource, join(import.meta.dirname, 'stdio-host.fixture.ts')]

afterAll(() => rmSync(mark, { recursive: true, force: true }))
afterEach(async () => {
  expect(findMarked(), 'remaining processes').toEqual([])
})

/** Returns the command lines of living processes with the mark; zombies are not counted. */
function findMarked(): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const isMarked = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`MARK=${mark}`)
      const isDead = /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
      return isMarked && !isDead ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')] : []
    } catch {
      return []
    }
  })
}

const quick = { end: 150, terminate: 150, kill: 1_000 }

interface Started {
  readonly warnings: Error[]
  connect(options?: ClientOptions): Promise<Client>
}

function start(command: string, args: readonly string[], options: SpawnOptions = {}): Started {
  const warnings: Error[] = []
  const env = { ...compileCache, ...options.env, MARK: mark }
  const connector = spawn(command, args, { stderr: 'ignore', shutdown: quick, ...options, env })
  return {
    warnings,
    connect: (clientOptions) =>
      connect(connector, { onWarning: (problem) => void warnings.push(problem), ...clientOptions }),
  }
}

const startHost = (behaviour: string, options?: SpawnOptions, ...more: string[]) =>
  start(process.execPath, [...host, behaviour, ...more], options)
const line = (behaviour: string) => [process.execPath, ...host, behaviour].map((word) => `'${word}'`).join(' ')
const who = async (client: Client) => ((await client.callTool('who')).content[0] as { text: string }).text

describe('no process is left of a server', () => {
  it.each([
    ['that ends with its input', process.execPath, [...host, 'serve']],
    ['that ignores signals and the end of its input', process.execPath, [...host, 'stubborn']],
    ['that a shell started', 'sh', ['-c', line('serve')]],
    ['that ignores signals, as a child of a waiting shell', 'sh', ['-c', `${line('stubborn')}; true`]],
    ['that ignores signals, as a child of a runner that does too', process.execPath, [...host, 'runner']],
    ['below a shell below a runner, all of which ignore signals', process.execPath, [...host, 'nested']],
    ['in the background of a shell', 'sh', ['-c', `exec 3<&0; ${line('stubborn')} <&3 & exec 0<&- 3<&-; wait`]],
  ])('%s', async (_, command, args) => {
    const client = await start(command, args).connect()
    expect(Number(await who(client))).toBeGreaterThan(0)
    expect(findMarked()).not.toEqual([])
    await client.close()
  })

  it('that never responds, not even to the probe', async () => {
    const connecting = startHost('nothing', { probeTimeout: 150 }).connect({ timeout: 200 })
    expect(await catchError(() => connecting)).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
  })
})

describe('a server that exits', () => {
  it('before its first message fails the connection with its exit code and stderr', async () => {
    const error = await catchError(() => startHost('crash').connect())
    expect(error).toMatchObject({
      name: 'ConnectionError',
      reason: 'exited',
      cause: { name: 'ServerExitError', exitCode: 3, signal: null, stderr: ['cannot find its configuration'] },
    })
    expect((error as Error).message).toContain('exited with code 3. Last stderr output:\ncannot find its configuration')
  })

  it.each([
    ['exit', { exitCode: 7, signal: null, stderr: ['first words', 'last words'] }],
    ['kill', { exitCode: null, signal: 'SIGKILL', stderr: [] }],
  ])('during a call (%s) fails all pending calls with its exit status, and is restarted', async (tool, cause) => {
    const client = await startHost('serve').connect()
    onTestFinished(() => client.close())
    const before = await who(client)
    const waiting = catchError(() => client.callTool('never'))
    for (const error of await Promise.all([catchError(() => client.callTool(tool)), waiting])) {
      expect(error).toMatchObject({ name: 'ConnectionError', reason: 'exited' })
      expect((error as ConnectionError).cause as ServerExitError).toMatchObject(cause)
    }
    expect(await who(client)).not.toBe(before)
    await client.close()
  })

  it('on the probe is restarted in the legacy era', async () => {
    const client = await startHost('fragile').connect()
    expect(client.revision).toBe('2025-06-18')
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['started'])
    await client.close()
  })

  it('repeatedly is not restarted after the client was closed', async () => {
    const starts = join(mark, 'starts')
    const restart = { delay: 60_000, maxDelay: 60_000 }
    const { connect: connectClient } = startHost('flaky', { restart }, starts)
    const client = await connectClient({ era: 'modern' })
    for (let round = 0; round < 2; round++) {
      expect(await catchError(() => client.callTool('crash'))).toMatchObject({ reason: 'exited' })
    }
    const waiting = catchError(() => client.callTool('crash'))
    await delay(100)
    const started = performance.now()
    await client.close()
    expect(performance.now() - started).toBeLessThan(1_000)
    expect(await waiting).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    expect(readFileSync(starts, 'utf8').trim().split('\n')).toHaveLength(2)
  })
})

describe('a running server', () => {
  it('that does not answer the probe is a legacy server', async () => {
    const client = await startHost('silent', { probeTimeout: 200 }).connect()
    expect(client.revision).toBe('2025-06-18')
    await client.close()
  })

  it('that writes invalid lines works, with a warning for each line', async () => {
    const { connect: connectClient, warnings } = startHost('garbage')
    const client = await connectClient()
    const calls = Array.from({ length: 50 }, (_, n) => client.callTool('echo', { text: String(n) }))
    expect((await Promise.all(calls)).map(({ content }) => (content[0] as { text: string }).text)).toEqual(
      calls.map((_, n) => String(n)),
    )
    await delay(60)
    const kinds = warnings.map((warning) => (warning as ConnectionError).reason)
    expect(new Set(kinds)).toEqual(new Set(['invalid-message']))
    expect(warnings.length).toBeGreaterThan(4)
    await client.close()
  })

  it('that closed its output fails pending calls and is restarted', async () => {
    const client = await startHost('serve').connect()
    const before = await who(client)
    const waiting = ['never', 'mute'].map((name) => catchError(() => client.callTool(name)))
    for (const error of await Promise.all(waiting)) {
      expect(error).toBeInstanceOf(ConnectionError)
      expect(error).toMatchObject({ reason: 'closed', message: expect.stringContaining('keeps running') })
    }
    expect(await who(client)).not.toBe(before)
    expect(findMarked()).toHaveLength(1)
    await client.close()
  })
})
