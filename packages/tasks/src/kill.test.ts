import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Client, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { afterAll, afterEach, describe, expect, it } from 'vitest'

const program = fileURLToPath(new URL('process.fixture.ts', import.meta.url))
const queueWorker = fileURLToPath(new URL('queue-worker.fixture.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tasks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let count = 0
const nextFile = () => join(folder, `${count++}`)

// Processes take seconds to start on a busy machine.
describe('processes that are killed', { timeout: 120_000 }, () => {
  const children: ChildProcess[] = []
  const clients: Client[] = []
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close()
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  /** A database and a log, which all processes of a test use. */
  function createPlace() {
    const database = nextFile()
    const log = nextFile()
    const readLog = () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [])
    /** Starts a process, and connects to it. */
    async function start(name: string) {
      const child = spawn(process.execPath, ['--conditions=source', program, database, log, name], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.push(child)
      const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
      const client = await connect(http(url), { onElicit: () => ({ action: 'accept', content: { yes: true } }) })
      clients.push(client)
      const kill = async () => {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      return { client, kill }
    }
    /** Runs a process that does the work of a task. Resolves to its exit code. */
    async function work(id: string): Promise<unknown> {
      const child = spawn(process.execPath, ['--conditions=source', queueWorker, database, id], { stdio: 'inherit' })
      children.push(child)
      return (await once(child, 'exit'))[0]
    }
    return { start, work, readLog }
  }

  it('between two steps: another process continues after the first one, which runs once', async () => {
    const { start, readLog } = createPlace()
    const first = await start('first')
    const { id } = await first.client.callTool('ship', {}, { task: 'handle' })
    await expect.poll(readLog, { timeout: 20_000 }).toContain('between first')
    await first.kill()
    const second = await start('second')
    const { content } = await second.client.task(id).result()
    expect(content).toEqual([{ type: 'text', text: 'charged by first, true, shipped by second' }])
    expect(readLog()).toEqual(['charge first', 'between first', 'between second', 'ship second'])
  })

  it('again and again: no finished step runs twice', async () => {
    const { start, readLog } = createPlace()
    let current = await start('process 0')
    const { id } = await current.client.callTool('count', {}, { task: 'handle' })
    for (let n = 1; n <= 3; n++) {
      const before = readLog().length
      await expect.poll(() => readLog().length, { timeout: 20_000 }).toBeGreaterThan(before + 5)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40))
      await current.kill()
      current = await start(`process ${n}`)
    }
    const { content } = await current.client.task(id).result()
    expect(content).toEqual([{ type: 'text', text: 'counted' }])
    const begun = readLog()
      .flatMap((line) => /^begin (\d+)/.exec(line)?.[1] ?? [])
      .map(Number)
    // A step that was interrupted runs again; an earlier one never does.
    expect(begun).toEqual([...begun].sort((some, other) => some - other))
    expect(new Set(begun).size).toBe(20)
    expect(begun.length).toBeLessThanOrEqual(23)
  })

  it('without resumable: the task fails with the reason', async () => {
    const { start, readLog } = createPlace()
    const first = await start('first')
    const { id } = await first.client.callTool('once', {}, { task: 'handle' })
    await expect.poll(readLog, { timeout: 20_000 }).toContain('once first')
    await first.kill()
    const second = await start('second')
    await expect(second.client.task(id).result()).rejects.toMatchObject({ code: -32603, data: { reason: 'lost' } })
    expect(readLog()).toEqual(['once first'])
  })

  it('one of three, while the others serve: the call of its client ends as if nothing had happened', async () => {
    const { start, readLog } = createPlace()
    const [first, second, third] = [await start('first'), await start('second'), await start('third')]
    const { id } = await first.client.callTool('ship', {}, { task: 'handle' })
    await expect.poll(readLog, { timeout: 20_000 }).toContain('between first')
    await first.kill()
    const results = await Promise.all([second.client.task(id).result(), third.client.task(id).result()])
    for (const { content } of results) {
      expect(content).toEqual([
        { type: 'text', text: expect.stringMatching(/^charged by first, true, shipped by (second|third)$/) },
      ])
    }
    expect(readLog().filter((line) => /^(charge|ship)/.test(line))).toHaveLength(2)
  })

  it('after the work was handed to a queue: a process without a server asks, reports and completes', async () => {
    const { start, work, readLog } = createPlace()
    const first = await start('first')
    const { id } = await first.client.callTool('render', {}, { task: 'handle' })
    await expect.poll(readLog, { timeout: 20_000 }).toContain('queued first')
    await first.kill()
    const second = await start('second')
    const task = second.client.task(id)
    const messages: unknown[] = []
    task.onStatus(({ statusMessage }) => messages.push(statusMessage))
    const [code, { content }] = await Promise.all([work(id), task.result()])
    expect(code).toBe(0)
    expect(content).toEqual([{ type: 'text', text: 'large: true' }])
    expect(messages).toContain('rendering')
    expect(readLog()).toEqual(['queued first'])
  })
})
