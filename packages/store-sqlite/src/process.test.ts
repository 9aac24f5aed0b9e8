import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { StoredTask } from '@mcpx/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { collect, type Folder, makeFolder } from './database.fixture.ts'
import { type SqliteStore, sqliteStore } from './index.ts'

const program = fileURLToPath(new URL('process.fixture.ts', import.meta.url))

let folder: Folder
let store: SqliteStore
const children: ChildProcessWithoutNullStreams[] = []
beforeEach(() => {
  folder = makeFolder()
  store = sqliteStore(folder.open('node:sqlite'))
})
afterEach(async () => {
  await store.close()
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  folder.remove()
})

/** Starts a process with a store in the same file. */
function startProcess(file = 'state.db') {
  const child = spawn(process.execPath, ['--conditions=source', '--no-warnings', program, folder.path(file)])
  children.push(child)
  let problem = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem += text
  })
  const received: string[] = []
  const waiting: { resolve(result: unknown): void; reject(error: Error): void }[] = []
  createInterface(child.stdout).on('line', (line) => {
    const message = JSON.parse(line)
    if ('received' in message) received.push(message.received)
    else waiting.shift()?.resolve(message.result)
  })
  child.on('exit', () => {
    for (const each of waiting) each.reject(new Error(`The process exited: ${problem}`))
  })
  return {
    child,
    received,
    call(...command: string[]): Promise<unknown> {
      child.stdin.write(`${JSON.stringify(command)}\n`)
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    },
  }
}

describe('a second process', () => {
  it('loses no update and no count, while both processes write', async () => {
    await store.sessions.create('a', { subscriptions: [] }, 60_000)
    const others = [startProcess(), startProcess()]
    await Promise.all(others.map((other, n) => other.call('add', 'a', `other${n}`, '0')))
    const writing = others.flatMap((other, n) => [
      other.call('add', 'a', `other${n}`, '100'),
      other.call('count', 'k', '100'),
    ])
    for (let n = 0; n < 100; n++) {
      await store.sessions.update('a', (state) => void state.subscriptions?.push(`own:${n}`))
      await store.counters.increment('k', 60_000)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await Promise.all(writing)
    const subscriptions = (await store.sessions.get('a'))?.subscriptions ?? []
    expect(new Set(subscriptions).size).toBe(300)
    expect((await store.counters.increment('k', 60_000)).count).toBe(301)
  })

  it('receives messages in order, and sends some', async () => {
    const other = startProcess()
    await other.call('subscribe', 't')
    const received: string[] = []
    await store.bus.subscribe('t', (message) => received.push(message))
    const sent = Array.from({ length: 200 }, (_, n) => String(n))
    for (const message of sent) await store.bus.publish('t', message)
    await expect.poll(() => other.received, { timeout: 5_000 }).toEqual(sent)
    await other.call('publish', 't', 'back')
    await expect.poll(() => received, { timeout: 5_000 }).toEqual([...sent, 'back'])
  })

  it('writes a stream that this process follows', async () => {
    const start = await store.events.append('s', '')
    const followed = collect(store, start)
    const other = startProcess()
    await other.call('append', 's', 'one')
    await other.call('append', 's', 'two')
    await other.call('end', 's')
    expect(await followed).toEqual(['one', 'two'])
  })

  it('leaves the state of completed calls when it is killed', async () => {
    const start = await store.events.append('s', '')
    const other = startProcess()
    await other.call('append', 's', 'one')
    void other.call('count', 'k', '1000000').catch(() => {})
    await expect.poll(async () => (await store.counters.increment('k', 60_000)).count).toBeGreaterThan(10)
    other.child.kill('SIGKILL')
    await once(other.child, 'exit')
    await store.events.append('s', 'two')
    expect((await store.events.replay(start))?.events.map(({ data }) => data)).toEqual(['one', 'two'])
  })

  it('loses no change of a task, while three processes write', async () => {
    await store.tasks.create('a', '', 60_000)
    const others = [startProcess(), startProcess()]
    await Promise.all(others.map((other) => other.call('note', 'a', '', '0')))
    const writing = others.map((other, n) => other.call('note', 'a', `other${n}`, '50'))
    for (let n = 0; n < 50; ) {
      const { version, data } = (await store.tasks.get('a')) as StoredTask
      if (await store.tasks.update('a', version, `${data}own:${n} `)) n += 1
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await Promise.all(writing)
    const task = await store.tasks.get('a')
    expect(new Set(task?.data.trim().split(' ')).size).toBe(150)
    expect(task?.version).toBe(151)
  })

  it('claims a lapsed task only if no other process has claimed it', async () => {
    const ids = Array.from({ length: 200 }, (_, n) => `task ${String(n).padStart(3, '0')}`)
    for (const id of ids) await store.tasks.create(id, '', 60_000, { owner: 'dead', duration: 1 })
    const others = Array.from({ length: 3 }, () => startProcess())
    await Promise.all(others.map((other) => other.call('note', 'task 000', '', '0')))
    const claimed = await Promise.all(others.map((other, n) => other.call('claimAll', `other${n}`)))
    expect((claimed as string[][]).flat().sort()).toEqual(ids)
  })

  it('leaves its tasks when it is killed: another process claims them after the lease', async () => {
    const other = startProcess()
    await other.call('create', 'a', 'begun')
    other.child.kill('SIGKILL')
    await once(other.child, 'exit')
    const claim = () => store.tasks.claim({ owner: 'own', duration: 60_000 })
    expect(await claim()).toBeUndefined()
    await expect.poll(claim, { timeout: 5_000 }).toMatchObject({ id: 'a', version: 2, data: 'begun', owner: 'own' })
  })

  it('creates the tables while others do', async () => {
    const others = Array.from({ length: 4 }, () => startProcess('new.db'))
    await Promise.all(others.map((other) => other.call('count', 'k', '1')))
    const last = sqliteStore(folder.open('node:sqlite', 'new.db'))
    expect((await last.counters.increment('k', 60_000)).count).toBe(5)
  })
})
