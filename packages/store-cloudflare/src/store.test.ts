import { describe, expect, it } from 'vitest'
import { CloudflareStoreError, durableObjectStore, type ObjectNamespace, type ObjectResponse } from './index.ts'

/** A binding whose objects answer every request by a function. */
function bindingOf(answer: () => Promise<ObjectResponse>): ObjectNamespace {
  return { idFromName: (name) => name, get: () => ({ fetch: answer }) }
}

const unused = bindingOf(() => Promise.reject(new Error('unexpected request')))

describe('options', () => {
  it.each([
    [{ maxEvents: 1.5 }, 'maxEvents: expected a whole number from 1 to 2147483647, got 1.5'],
    [{ eventTtl: 0 }, 'eventTtl: expected a whole number from 1 to 2147483647, got 0'],
    [{ prefix: 5 }, 'prefix: expected a string, got number'],
    [{ onWarning: 5 }, 'onWarning: expected a function, got number'],
    [{ eventTTL: 5 }, 'durableObjectStore: there is no option "eventTTL"; did you mean "eventTtl"?'],
  ])('refuses %o', (options, message) => {
    expect(() => durableObjectStore(unused, options as never)).toThrow(message)
  })

  it.each([undefined, null, {}, 'MCPX_STORE'])('refuses %o as a binding', (value) => {
    expect(() => durableObjectStore(value as never)).toThrow(
      'durableObjectStore: expected a binding of Durable Objects, got something else',
    )
  })
})

describe('a failing object', () => {
  it.each([
    [{ retryable: true }, true],
    [{ overloaded: true }, true],
    [{}, false],
  ])('rejects calls and subscriptions by name, with an error of the platform like %o', async (members, retryable) => {
    const store = durableObjectStore(bindingOf(() => Promise.reject(Object.assign(new Error('out of reach'), members))))
    const calls = {
      read: () => store.sessions.get('a'),
      append: () => store.events.append('s', 'x'),
      publish: () => store.bus.publish('t', 'x'),
      subscribe: () => store.bus.subscribe('t', () => {}),
      increment: () => store.counters.increment('k', 1_000),
      create: () => store.replays.add('p', 1_000),
      createTask: () => store.tasks.create('t', '', 1_000),
      listLease: () => store.tasks.create('t', '', 1_000, { owner: 'one', duration: 1_000 }),
      readTask: () => store.tasks.get('t'),
      updateTask: () => store.tasks.update('t', 1, ''),
      renewTask: () => store.tasks.renew('t', { owner: 'one', duration: 1_000 }),
      nextLease: () => store.tasks.claim({ owner: 'one', duration: 1_000 }),
    }
    for (const [place, call] of Object.entries(calls)) {
      const error = await Promise.resolve(call()).catch((reason) => reason)
      expect(error).toBeInstanceOf(CloudflareStoreError)
      expect(error).toMatchObject({ message: `${place}: out of reach`, retryable })
    }
  })

  it('rejects by name when the binding is of another class', async () => {
    const store = durableObjectStore(bindingOf(async () => ({ status: 404, text: async () => 'not found' })))
    await expect(store.sessions.get('a')).rejects.toThrow('read: expected a result of class McpxStore, got status 404')
    await expect(store.bus.subscribe('t', () => {})).rejects.toThrow(
      'subscribe: expected a WebSocket of class McpxStore, got status 404',
    )
  })
})

describe('a task', () => {
  const json = (result: unknown): ObjectResponse => ({ status: 200, text: async () => JSON.stringify({ result }) })

  /** A binding whose objects of tasks answer, and whose list of leases fails. */
  function withBrokenList(answer: (operation: string) => unknown): ObjectNamespace {
    const calls = async (name: string, body: string) => {
      if (name.endsWith('leases')) throw new Error('out of reach')
      return json(answer(JSON.parse(body).operation))
    }
    const get = (name: string) => ({ fetch: (_url: string, init?: { body?: string }) => calls(name, init?.body ?? '') })
    return { idFromName: (name) => name, get } as ObjectNamespace
  }

  it('is not created when its lease cannot be listed, since nobody would claim it', async () => {
    const created: string[] = []
    const store = durableObjectStore(withBrokenList((operation) => created.push(operation)))
    const create = store.tasks.create('t', '', 1_000, { owner: 'one', duration: 1_000 })
    await expect(create).rejects.toThrow('listLease: out of reach')
    expect(created).toEqual([])
  })

  it('is updated when its lease cannot be removed from the list', async () => {
    const store = durableObjectStore(withBrokenList(() => true))
    expect(await store.tasks.update('t', 1, 'result', true)).toBe(true)
  })

  it.each([
    [{ outcome: 'free' }, 'removeLease t'],
    [{ outcome: 'leased', rest: 500, ttl: 900 }, 'listLease t,500,900'],
    [{ outcome: 'unknown' }, undefined],
  ])('that is due and cannot be claimed, with %o, changes the list', async (claim, change) => {
    const calls: string[] = []
    const due = ['t']
    const answer = (operation: string) => {
      if (operation === 'nextLease') return due.pop() ?? null
      return operation === 'claimTask' ? claim : undefined
    }
    const fetch = async (_url: string, init?: { body?: string }) => {
      const { operation, args } = JSON.parse(init?.body ?? '')
      calls.push(`${operation} ${args}`)
      return json(answer(operation) ?? null)
    }
    const store = durableObjectStore({ idFromName: (name) => name, get: () => ({ fetch }) })
    expect(await store.tasks.claim({ owner: 'one', duration: 1_000 })).toBeUndefined()
    const expected = ['nextLease 1000', 'claimTask one,1000', change, 'nextLease 1000']
    expect(calls).toEqual(expected.filter((call) => call !== undefined))
  })
})

describe('a closed store', () => {
  it('rejects later calls by name', async () => {
    const store = durableObjectStore(unused)
    await store.close()
    await expect(store.sessions.get('a')).rejects.toThrow('read: the store was closed')
    await expect(store.bus.subscribe('t', () => {})).rejects.toThrow('subscribe: the store was closed')
  })
})
