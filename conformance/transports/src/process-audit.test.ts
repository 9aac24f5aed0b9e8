/** Servers that behave badly in every way known: each call ends by name, and of no server a process is left. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, type ClientOptions, connect } from '@mcpx/client'
import { ConnectionError } from '@mcpx/protocol'
import { caught, delay } from '@mcpx/testing'
import { type ServerExitError, type SpawnOptions, spawn } from '@mcpx/transport-stdio'
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { compileCache, fromSource } from './hosts.fixture.ts'

vi.setConfig({ testTimeout: 30_000 })

/** Marks every process that is started here, and all that these start. */
const mark = mkdtempSync(join(tmpdir(), 'audit-'))
const host = [...fromSource, join(import.meta.dirname, 'stdio-host.fixture.ts')]

afterAll(() => rmSync(mark, { recursive: true, force: true }))
afterEach(async () => {
  expect(marked(), 'processes that are left').toEqual([])
})

/** What lives and bears the mark; what has ended and was not buried does not live. */
function marked(): string[] {
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
  readonly reports: Error[]
  connect(options?: ClientOptions): Promise<Client>
}

function start(command: string, args: readonly string[], options: SpawnOptions = {}): Started {
  const reports: Error[] = []
  const env = { ...compileCache, ...options.env, MARK: mark }
  const connector = spawn(command, args, { stderr: 'ignore', shutdown: quick, ...options, env })
  return {
    reports,
    connect: (given) => connect(connector, { onWarning: (problem) => void reports.push(problem), ...given }),
  }
}

const startHost = (way: string, options?: SpawnOptions, ...more: string[]) =>
  start(process.execPath, [...host, way, ...more], options)
const line = (way: string) => [process.execPath, ...host, way].map((word) => `'${word}'`).join(' ')
const who = async (client: Client) => ((await client.callTool('who')).content[0] as { text: string }).text

describe('nothing is left of a server', () => {
  it.each([
    ['that ends with its input', process.execPath, [...host, 'serve']],
    ['that ignores everything', process.execPath, [...host, 'stubborn']],
    ['that a shell has started', 'sh', ['-c', line('serve')]],
    ['that ignores everything, below a shell that waits', 'sh', ['-c', `${line('stubborn')}; true`]],
    ['that ignores everything, below a runner that does too', process.execPath, [...host, 'runner']],
    ['below a shell below a runner, all of which ignore everything', process.execPath, [...host, 'nested']],
    ['in the background of a shell', 'sh', ['-c', `exec 3<&0; ${line('stubborn')} <&3 & exec 0<&- 3<&-; wait`]],
  ])('%s', async (_, command, args) => {
    const client = await start(command, args).connect()
    expect(Number(await who(client))).toBeGreaterThan(0)
    expect(marked()).not.toEqual([])
    await client.close()
  })

  it('that answers nothing: not even while it is found out', async () => {
    const connecting = startHost('nothing', { probeTimeout: 150 }).connect({ timeout: 200 })
    expect(await caught(() => connecting)).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
  })
})

describe('a server that exits', () => {
  it('before it has said anything is unreachable by its exit code and last words', async () => {
    const error = await caught(() => startHost('crash').connect())
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
  ])('during a call (%s) rejects all that waits with how it ended, and is started again', async (way, cause) => {
    const client = await startHost('serve').connect()
    onTestFinished(() => client.close())
    const before = await who(client)
    const waiting = caught(() => client.callTool('never'))
    for (const error of await Promise.all([caught(() => client.callTool(way)), waiting])) {
      expect(error).toMatchObject({ name: 'ConnectionError', reason: 'exited' })
      expect((error as ConnectionError).cause as ServerExitError).toMatchObject(cause)
    }
    expect(await who(client)).not.toBe(before)
    await client.close()
  })

  it('when it is asked for its era is one of the older, and started again', async () => {
    const client = await startHost('fragile').connect()
    expect(client.revision).toBe('2025-06-18')
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['started'])
    await client.close()
  })

  it('again and again is waited for no longer when the client is closed', async () => {
    const starts = join(mark, 'starts')
    const restart = { delay: 60_000, maxDelay: 60_000 }
    const { connect: reach } = startHost('flaky', { restart }, starts)
    const client = await reach({ era: 'modern' })
    for (let round = 0; round < 2; round++) {
      expect(await caught(() => client.callTool('crash'))).toMatchObject({ reason: 'exited' })
    }
    const waiting = caught(() => client.callTool('crash'))
    await delay(100)
    const started = performance.now()
    await client.close()
    expect(performance.now() - started).toBeLessThan(1_000)
    expect(await waiting).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    expect(readFileSync(starts, 'utf8').trim().split('\n')).toHaveLength(2)
  })
})

describe('a server that lives', () => {
  it('and says nothing to what it does not know is one of the older', async () => {
    const client = await startHost('silent', { probeTimeout: 200 }).connect()
    expect(client.revision).toBe('2025-06-18')
    await client.close()
  })

  it('and writes what is no message is understood, and told on', async () => {
    const { connect: reach, reports } = startHost('garbage')
    const client = await reach()
    const calls = Array.from({ length: 50 }, (_, n) => client.callTool('echo', { text: String(n) }))
    expect((await Promise.all(calls)).map(({ content }) => (content[0] as { text: string }).text)).toEqual(
      calls.map((_, n) => String(n)),
    )
    await delay(60)
    const kinds = reports.map((report) => (report as ConnectionError).reason)
    expect(new Set(kinds)).toEqual(new Set(['invalid-message']))
    expect(reports.length).toBeGreaterThan(4)
    await client.close()
  })

  it('but has closed its output loses what waits, and is ended', async () => {
    const client = await startHost('serve').connect()
    const before = await who(client)
    const waiting = ['never', 'mute'].map((name) => caught(() => client.callTool(name)))
    for (const error of await Promise.all(waiting)) {
      expect(error).toBeInstanceOf(ConnectionError)
      expect(error).toMatchObject({ reason: 'closed', message: expect.stringContaining('keeps running') })
    }
    expect(await who(client)).not.toBe(before)
    expect(marked()).toHaveLength(1)
    await client.close()
  })
})
