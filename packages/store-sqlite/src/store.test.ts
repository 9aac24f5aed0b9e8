import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { collect, type Folder, makeFolder, type OpenDatabase, openBy } from './database.fixture.ts'
import { SqliteStoreError, sqliteStore } from './index.ts'

let folder: Folder
let database: OpenDatabase
beforeEach(() => {
  folder = makeFolder()
  database = folder.open('node:sqlite')
})
afterEach(() => {
  vi.useRealTimers()
  folder.remove()
})

/** Advances the clock of this process, and lets rows expire as if that of SQLite had advanced. Timers are not changed. */
function advance(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  for (const name of tables()) {
    const hasExpiry = database.prepare(`SELECT 1 FROM pragma_table_info('${name}') WHERE name = 'expires_at'`).get()
    if (hasExpiry) database.exec(`UPDATE ${name} SET expires_at = expires_at - ${ms}`)
  }
}

/** Returns the names of the tables. */
function tables(): string[] {
  const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'mcpx%'").all()
  return (rows as { name: string }[]).map(({ name }) => name)
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Returns the number of rows of each table. */
function countRows(): Record<string, number> {
  const count = (name: string) =>
    (database.prepare(`SELECT count(*) AS count FROM ${name}`).get() as { count: number }).count
  return Object.fromEntries(tables().map((name) => [name.slice('mcpx_'.length), count(name)]))
}

describe('options', () => {
  it.each([
    [{ timeout: 0 }, 'timeout: expected a whole number from 1 to 2147483647, got 0'],
    [{ maxEvents: 1.5 }, 'maxEvents: expected a whole number from 1 to 2147483647, got 1.5'],
    [{ eventTtl: Number.NaN }, 'eventTtl: expected a whole number from 1 to 2147483647, got NaN'],
    [{ pollInterval: '5' }, 'pollInterval: expected a whole number from 1 to 2147483647, got 5'],
    [{ prefix: 5 }, 'prefix: expected a string, got number'],
    [{ prefix: 'a; DROP' }, 'without a leading digit, got "a; DROP"'],
    [{ onWarning: 5 }, 'onWarning: expected a function, got number'],
    [{ pollIntervall: 5 }, 'sqliteStore: there is no option "pollIntervall"; did you mean "pollInterval"?'],
  ])('refuses %o', (options, message) => {
    expect(() => sqliteStore(database, options as never)).toThrow(message)
  })

  const rowsAsArrays = { exec() {}, prepare: () => ({ get: () => [1] }) }
  it.each([undefined, null, 'state.db', {}, { exec() {} }, rowsAsArrays])('refuses %o as a database', (value) => {
    expect(() => sqliteStore(value as never)).toThrow('sqliteStore: expected an open database of node:sqlite, bun')
  })
})

describe.each(Object.keys(openBy) as (keyof typeof openBy)[])('a store over %s', (driver) => {
  it('reads integers as numbers and as bigints', async () => {
    const connection = folder.open(driver) as OpenDatabase & { defaultSafeIntegers?(isOn: boolean): void }
    const store = sqliteStore(connection)
    connection.defaultSafeIntegers?.(true)
    const id = await store.events.append('s', '')
    await store.events.append('s', 'x')
    await store.events.end('s')
    expect(await store.events.replay(id)).toMatchObject({ events: [{ data: 'x' }], ended: true })
    expect(await store.counters.increment('k', 1_000)).toEqual({ count: 1, resetsAt: expect.any(Number) })
    await store.tasks.create('t', '', 1_000, { owner: 'one', duration: 1_000 })
    expect(await store.tasks.renew('t', { owner: 'one', duration: 0 })).toBe(1)
    await sleep(5)
    const task = { id: 't', version: 2, data: '', owner: 'two', ttl: expect.any(Number) }
    expect(await store.tasks.claim({ owner: 'two', duration: 1 })).toEqual(task)
  })
})

describe('a store', () => {
  it('creates tables with the prefix, and shares a file with a store of another prefix', async () => {
    const first = sqliteStore(database, { prefix: 'shop_' })
    const second = sqliteStore(folder.open('node:sqlite'), { prefix: 'bank_' })
    await first.sessions.create('a', { subject: 'shop' }, 60_000)
    await second.sessions.create('a', { subject: 'bank' }, 60_000)
    expect(await first.sessions.get('a')).toEqual({ subject: 'shop' })
    const names = database.prepare('SELECT name FROM sqlite_schema').all() as { name: string }[]
    expect(names.filter(({ name }) => !/^(shop_|bank_|sqlite_)/.test(name))).toEqual([])
  })

  it('deletes expired rows in batches while it is used, events with their stream', async () => {
    const store = sqliteStore(database, { eventTtl: 100 })
    for (let n = 0; n < 50; n++) {
      await store.sessions.create(`a${n}`, {}, 100)
      await store.records.create(`a${n}`, {}, 100)
      await store.events.append(`s${n}`, 'x')
      await store.counters.increment(`k${n}`, 100)
      await store.replays.add(`p${n}`, 100)
    }
    advance(61_000)
    for (let n = 0; n < 5; n++) await store.bus.publish('t', 'x')
    const expired = { sessions: 0, records: 0, streams: 0, events: 0, counters: 0, replays: 0, tasks: 0 }
    expect(countRows()).toEqual({ ...expired, messages: 5 })
  })

  it('deletes expired tasks in batches while it is used, by the clock of SQLite', async () => {
    const store = sqliteStore(database)
    for (let n = 0; n < 50; n++) await store.tasks.create(`a${n}`, 'x', 300, { owner: 'one', duration: 60_000 })
    advance(-3_600_000)
    await sleep(350)
    expect(await store.tasks.claim({ owner: 'two', duration: 60_000 })).toBeUndefined()
    // The clock of the process determines how often expired rows are searched.
    advance(3_660_000)
    for (let n = 0; n < 5; n++) await store.bus.publish('t', 'x')
    expect(countRows()).toMatchObject({ tasks: 0 })
  })

  it('reads tasks while another connection writes, and rejects changes of them by name', async () => {
    const store = sqliteStore(database, { timeout: 50 })
    const lease = { owner: 'one', duration: 1 }
    await store.tasks.create('a', 'x', 60_000, lease)
    await sleep(20)
    const other = folder.open('node:sqlite')
    other.exec('BEGIN IMMEDIATE')
    expect(await store.tasks.get('a')).toMatchObject({ version: 1, data: 'x' })
    const calls = {
      create: () => store.tasks.create('b', '', 60_000),
      update: () => store.tasks.update('a', 1, 'y'),
      renew: () => store.tasks.renew('a', lease),
      claim: () => store.tasks.claim({ owner: 'two', duration: 60_000 }),
    }
    for (const [place, call] of Object.entries(calls)) {
      const error = await Promise.resolve(call()).catch((reason) => reason)
      expect(error).toMatchObject({ name: 'SqliteStoreError', retryable: true })
      expect(error.message).toContain(`${place}: database is locked`)
    }
    other.exec('COMMIT')
    expect(await store.tasks.claim({ owner: 'two', duration: 60_000 })).toMatchObject({ version: 2, data: 'x' })
  })

  it('does not return an expired stream to an event that is appended later', async () => {
    const store = sqliteStore(database, { eventTtl: 100 })
    const old = await store.events.append('s', 'old')
    advance(150)
    const fresh = await store.events.append('s', 'new')
    expect(await store.events.replay(old)).toBeUndefined()
    expect(await store.events.replay(fresh)).toEqual({ streamId: 's', events: [], ended: false })
  })

  it('keeps a stream that is followed, replayed or refreshed, and does not restore a dropped one', async () => {
    const store = sqliteStore(database, { eventTtl: 300 })
    const id = await store.events.append('s', '')
    for (let n = 0; n < 3; n++) {
      advance(200)
      await store.events.refresh?.('s')
    }
    expect(await store.events.replay(id)).toBeDefined()
    advance(200)
    expect(await store.events.replay(id)).toBeDefined()
    advance(350)
    await store.events.refresh?.('s')
    expect(await store.events.replay(id)).toBeUndefined()
  })

  it('drops the oldest events of a stream beyond `maxEvents`', async () => {
    const store = sqliteStore(database, { maxEvents: 100 })
    const first = await store.events.append('s', 'first')
    const second = await store.events.append('s', 'second')
    for (let n = 0; n < 99; n++) await store.events.append('s', String(n))
    expect(await store.events.replay(first)).toBeUndefined()
    expect((await store.events.replay(second))?.events).toHaveLength(99)
    await expect(async () => {
      for await (const _ of store.events.follow(first, new AbortController().signal)) break
    }).rejects.toThrow('follow: expected a stored event, got an unknown or dropped one')
  })

  it('rejects by name while another connection writes for too long, and works afterwards', async () => {
    const store = sqliteStore(database, { timeout: 50 })
    const other = folder.open('node:sqlite')
    other.exec('BEGIN IMMEDIATE')
    const error = await Promise.resolve(store.sessions.create('a', {}, 60_000)).catch((reason) => reason)
    expect(error).toBeInstanceOf(SqliteStoreError)
    expect(error.message).toBe(
      'create: database is locked. Another connection wrote for more than 50 ms: end its transactions sooner, or raise `timeout`',
    )
    expect(error.retryable).toBe(true)
    expect(await store.sessions.get('a')).toBeUndefined()
    other.exec('COMMIT')
    await store.sessions.create('a', {}, 60_000)
    expect(await store.sessions.get('a')).toEqual({})
  })

  it('refuses to write within a transaction of the caller, which could undo it', async () => {
    const store = sqliteStore(database)
    database.exec('BEGIN')
    await expect(store.events.append('s', 'x')).rejects.toThrow(
      'append: cannot start a transaction within a transaction. Open a connection for the store alone',
    )
    database.exec('COMMIT')
    await store.events.append('s', 'x')
  })

  it('delivers at once within the process, and does not poll without subscriptions', async () => {
    const store = sqliteStore(database, { pollInterval: 60_000 })
    vi.useFakeTimers()
    const received: string[] = []
    const unsubscribe = await store.bus.subscribe('t', (message) => received.push(message))
    await store.bus.publish('t', 'x')
    await store.bus.publish('t', 'y')
    await vi.advanceTimersByTimeAsync(1)
    expect(received).toEqual(['x', 'y'])
    expect(vi.getTimerCount()).toBe(1)
    await unsubscribe()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('delivers only messages that were published after the subscription', async () => {
    const store = sqliteStore(database, { pollInterval: 20 })
    const other = sqliteStore(folder.open('node:sqlite'))
    const received: string[] = []
    await store.bus.subscribe('t', (message) => received.push(`first: ${message}`))
    await other.bus.publish('t', 'a')
    await store.bus.subscribe('t', (message) => received.push(`second: ${message}`))
    await other.bus.publish('t', 'b')
    await expect.poll(() => received).toEqual(['first: a', 'first: b', 'second: b'])
  })

  it('delivers more messages than one poll reads, in order', async () => {
    const store = sqliteStore(database, { pollInterval: 20 })
    const other = sqliteStore(folder.open('node:sqlite'))
    const received: string[] = []
    await store.bus.subscribe('t', (message) => received.push(message))
    const sent = Array.from({ length: 1_200 }, (_, n) => String(n))
    for (const message of sent) await other.bus.publish('t', message)
    await expect.poll(() => received.length, { timeout: 5_000 }).toBe(1_200)
    expect(received).toEqual(sent)
  })

  it('reports a gap to each subscription after the process was suspended for longer than messages are kept', async () => {
    const warnings: string[] = []
    const store = sqliteStore(database, { onWarning: ({ message }) => warnings.push(message) })
    const received: string[] = []
    for (const name of ['first', 'second']) {
      await store.bus.subscribe(
        't',
        (message) => received.push(`${name}: ${message}`),
        () => received.push(`${name}: gap`),
      )
    }
    advance(61_000)
    await expect.poll(() => received).toEqual(['first: gap', 'second: gap'])
    await store.bus.publish('t', 'x')
    await expect.poll(() => received.slice(2)).toEqual(['first: x', 'second: x'])
    expect(warnings).toEqual(['This process did not read messages for 60000 ms: messages may be missing'])
  })

  it('reports once that messages cannot be read, and reports errors of listeners', async () => {
    const warnings: string[] = []
    const store = sqliteStore(folder.open('node:sqlite'), {
      pollInterval: 5,
      onWarning: ({ message }) => warnings.push(message),
    })
    await store.bus.subscribe('t', () => {
      throw new Error('thrown by a listener')
    })
    await store.bus.publish('t', 'x')
    await expect.poll(() => warnings.splice(0)).toEqual(['thrown by a listener'])
    database.exec('ALTER TABLE mcpx_messages RENAME TO away')
    await expect.poll(() => warnings).toHaveLength(1)
    await sleep(50)
    expect(warnings).toEqual([expect.stringContaining('poll: no such table: mcpx_messages')])
    await store.close()
  })

  it('ends followed streams when it is closed, leaves the database open, and rejects later calls by name', async () => {
    const store = sqliteStore(database)
    const id = await store.events.append('s', '')
    const followed = collect(store, id)
    await store.close()
    expect(await followed).toEqual([])
    await expect(store.sessions.get('a')).rejects.toThrow('get: the store was closed')
    await expect(store.bus.subscribe('t', () => {})).rejects.toThrow('subscribe: the store was closed')
    expect(countRows().events).toBe(1)
  })

  it('works in memory, for one process', async () => {
    const store = sqliteStore(folder.open('node:sqlite', ':memory:'))
    await store.sessions.create('a', {}, 60_000)
    expect(await store.sessions.get('a')).toEqual({})
  })
})

describe('a followed stream', () => {
  it('leaves no listener behind when it cannot be read', async () => {
    const store = sqliteStore(database)
    const id = await store.events.append('s', 'x')
    const { signal } = new AbortController()
    database.exec('DROP TABLE mcpx_messages')
    await expect(store.events.follow(id, signal)[Symbol.asyncIterator]().next()).rejects.toThrow(SqliteStoreError)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    await store.close()
  })
})
