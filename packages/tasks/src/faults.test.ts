import type { Store, TaskStore } from '@mcpx/protocol'
import { memoryStore } from '@mcpx/protocol/memory'
import { createServer, elicit, type ServerExtension, type ServerOptions } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { continueAsTask, type TasksOptions, tasks } from './index.ts'
import { type Answer, closePeers, connectPeer, type Peer } from './peer.fixture.ts'

const servers: { close(): void }[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
  await closePeers()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const approval = { message: 'Ship it?', schema: z.object({ yes: z.boolean() }) }
const yes = { action: 'accept', content: { yes: true } }

function create({ extensions = [], ...options }: ServerOptions = {}, taskOptions: TasksOptions = {}) {
  const own = tasks({ inlineTime: 10, lease: 300, ...taskOptions })
  const shared = { onError: () => {}, secrets: ['the same in every process'], ...options }
  const server = createServer({ name: 'faults', version: '1' }, { ...shared, extensions: [own, ...extensions] })
  servers.push(server)
  return server
}

/** A store whose task methods a test replaces. */
function storeWith(replace: (stored: TaskStore) => Partial<TaskStore>): Store {
  const memory = memoryStore()
  const stored = memory.tasks as TaskStore
  return { ...memory, tasks: { ...stored, ...replace(stored) } }
}

const unreachable = () => Object.assign(new Error('The store cannot be reached'), { retryable: true })

/** Polls a task and answers its questions until it has ended. Requests that fail are sent again. */
async function finish(peer: Peer, taskId: string): Promise<Answer> {
  for (;;) {
    const task = await peer.get(taskId)
    if (['completed', 'failed', 'cancelled'].includes(task.status ?? '')) return task
    for (const key of Object.keys(task.inputRequests ?? {})) await peer.update(taskId, { [key]: yes })
    await pause(10)
  }
}

describe('a store that fails', () => {
  const modes = { 'before it has written': true, 'after it has written': false }

  /** The calls of the store that fail, one in each run. */
  const calls = Object.entries({ create: 1, get: 8, update: 10, renew: 1, claim: 2 }).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, n) => ({ name: name as keyof TaskStore, n: n + 1 })),
  )

  /** Runs a task on a server whose store fails once, at the n-th call of a method. Another server answers its questions. */
  async function run({ name, n }: (typeof calls)[0], failsBefore: boolean, task: 'auto' | 'required') {
    let count = 0
    const store = storeWith((stored) => ({
      async [name](...args: never[]) {
        count += 1
        const fails = count === n
        if (fails && failsBefore) throw unreachable()
        const result = await (stored[name] as (...all: never[]) => unknown)(...args)
        if (fails) throw unreachable()
        return result
      },
    }))
    const runs: string[] = []
    const createNode = () =>
      create({ store }).tool('t', { task, resumable: true }, async (_, ctx) => {
        const step = (name: string) =>
          ctx.step(name, async () => {
            runs.push(name)
            await pause(5)
            return name
          })
        const before = await step('a')
        await pause(20)
        const both = await Promise.all([step('b'), step('c')])
        await ctx.progress(1, 2)
        const { action } = await ctx.elicit('q', approval)
        return [before, ...both, action, await step('d')].join()
      })
    const [first, second] = [createNode(), createNode()]
    const created = await connectPeer(first).call('t')
    const end = created.resultType === 'task' ? await finish(connectPeer(second), created.taskId) : created
    return { runs: runs.join(), text: end.result?.content[0]?.text, end }
  }

  it.each(Object.entries(modes))('once, %s, changes neither the result nor the steps', async (_, failsBefore) => {
    for (const task of ['auto', 'required'] as const) {
      const [withoutTask, ...others] = await Promise.all(calls.map((call) => run(call, failsBefore, task)))
      for (const result of others) expect(result).toMatchObject({ runs: 'a,b,c,d', text: 'a,b,c,accept,d' })
      // Only the creation of the task is not repeated: the call is then none, or an error.
      expect(withoutTask?.end).toMatchObject(task === 'auto' ? { resultType: 'input_required' } : { code: -32603 })
    }
  })

  it('after it has created a task runs the handler once', async () => {
    const store = storeWith((stored) => ({
      async create(...task) {
        await stored.create(...task)
        throw unreachable()
      },
    }))
    let runs = 0
    const server = create({ store }).tool('t', { task: 'auto', resumable: true }, async () => {
      runs += 1
      await pause(50)
      return `run ${runs}`
    })
    expect(await connectPeer(server).call('t')).toMatchObject({ content: [{ text: 'run 1' }] })
    // The lease has lapsed by then.
    await pause(700)
    expect(runs).toBe(1)
  })

  it('to create tasks does not use up the limit of tasks', async () => {
    let fails = true
    const store = storeWith((stored) => ({
      create(...task) {
        if (fails) throw unreachable()
        return stored.create(...task)
      },
    }))
    const server = create({ store }, { limits: { tasks: 20, perCaller: 1 } }).tool('t', { task: 'required' }, () => '')
    const peer = connectPeer(server)
    for (let n = 0; n < 21; n++) expect(await peer.call('t')).toMatchObject({ code: -32603 })
    fails = false
    expect(await peer.call('t')).toMatchObject({ resultType: 'task' })
  })
})

describe('a result that cannot be stored or sent', () => {
  const loop: Record<string, unknown> = { content: [] }
  loop.structuredContent = loop
  let deep: object = {}
  for (let n = 0; n < 1_000; n++) deep = { deep }
  const returning = (result: unknown): ServerExtension => ({
    id: 'com.example/replace',
    middleware: async (request, _ctx, next) => {
      const returned = await next()
      return request.method === 'tools/call' ? (result as object) : returned
    },
  })

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a bigint', { content: [], structuredContent: { n: 1n } }],
    ['a loop', loop],
    ['an object of 1,000 levels', { content: [], structuredContent: deep }],
  ])('is a failure of the task: %s', async (_, result) => {
    const server = create({ extensions: [returning(result)] }).tool('t', { task: 'required' }, () => '')
    const peer = connectPeer(server)
    const { taskId } = await peer.call('t')
    expect(await finish(peer, taskId)).toMatchObject({ status: 'failed', error: { code: -32603 } })
  })
})

describe('changes of one turn', () => {
  it('are stored, although one of them is too large', async () => {
    const server = create({}, { limits: { data: 2_000 } }).tool('t', { task: 'required' }, async (_, ctx) => {
      const steps = [ctx.step('large', () => 'x'.repeat(3_000)), ctx.step('small', () => 'ok')]
      return (await Promise.allSettled(steps)).map(({ status }) => status).join()
    })
    const peer = connectPeer(server)
    const { taskId } = await peer.call('t')
    expect((await finish(peer, taskId)).result?.content[0]?.text).toBe('rejected,fulfilled')
  })

  it('are stored, although one of them is a question beyond the limit', async () => {
    const server = create({}, { limits: { questions: 2 } }).tool('t', { task: 'required' }, async (_, ctx) => {
      const asked = ['a', 'b', 'c'].map((key) => ctx.elicit(key, approval))
      return (await Promise.allSettled(asked)).map(({ status }) => status).join()
    })
    const peer = connectPeer(server)
    const { taskId } = await peer.call('t')
    expect((await finish(peer, taskId)).result?.content[0]?.text).toBe('fulfilled,fulfilled,rejected')
  })
})

it('a request that is cancelled while its task is stored does not run the handler', async () => {
  const abort = new AbortController()
  let id = ''
  const store = storeWith((stored) => ({
    async create(...task) {
      id = task[0]
      abort.abort()
      await pause(50)
      return stored.create(...task)
    },
  }))
  let runs = 0
  const server = create({ store }).tool('t', { task: 'required' }, () => {
    runs += 1
    return ''
  })
  await connectPeer(server).send('tools/call', { name: 't' }, { signal: abort.signal })
  await pause(100)
  expect(await finish(connectPeer(server), id)).toMatchObject({ status: 'cancelled' })
  expect(runs).toBe(0)
})

it('a handler that hands its task off and returns does not end the process', async () => {
  const server = create().tool('t', { task: 'required' }, async (_, ctx) => {
    void (await continueAsTask(ctx))?.handOff()
    await pause(20)
    return ''
  })
  const peer = connectPeer(server)
  const { taskId } = await peer.call('t')
  await pause(50)
  expect(await peer.get(taskId)).toMatchObject({ status: 'working' })
})

it('a server that is closed while it claims a task leaves the task to others', async () => {
  const memory = memoryStore()
  const stored = memory.tasks as TaskStore
  const names: string[] = []
  const add = (server: ReturnType<typeof create>, name: string) =>
    server.tool('t', { task: 'required', resumable: true }, async (_, { signal }) => {
      names.push(name)
      if (name === 'last') return name
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return ''
    })
  const first = add(create({ store: memory }), 'first')
  const { taskId } = await connectPeer(first).call('t')
  const slow = add(create({ store: { ...memory, tasks: { ...stored, claim: claimSlowly } } }), 'slow')
  async function claimSlowly(...lease: Parameters<TaskStore['claim']>) {
    const task = await stored.claim(...lease)
    if (task !== undefined) slow.close()
    return task
  }
  first.close()
  await pause(250)
  const peer = connectPeer(add(create({ store: memory }), 'last'))
  expect(await finish(peer, taskId)).toMatchObject({ status: 'completed' })
  expect(names).toEqual(['first', 'last'])
})

describe('without a bus', () => {
  const fail = async () => {
    throw new Error('The bus cannot be reached')
  }

  it('tasks.handle(id).ask reads the answer from the store', async () => {
    const store = { ...memoryStore(), bus: { publish: fail, subscribe: fail } }
    const server = create({ store }).tool('t', { task: 'required' }, async (_, ctx) =>
      (await continueAsTask(ctx))?.handOff(),
    )
    const peer = connectPeer(server)
    const { taskId } = await peer.call('t')
    const answer = tasks({ store }).handle(taskId).ask('q', elicit(approval))
    answer.catch(() => {})
    await peer.until(taskId, 'input_required')
    await peer.update(taskId, { q: yes })
    expect(await answer).toEqual(yes)
  })
})

describe('a subscription to tasks', () => {
  it('that is refused leaves nothing open', async () => {
    const memory = memoryStore()
    const stored = memory.tasks as TaskStore
    let open = 0
    let failing = ''
    const store: Store = {
      ...memory,
      tasks: {
        ...stored,
        async get(id) {
          if (id === failing) throw unreachable()
          if (failing !== '') await pause(30)
          return stored.get(id)
        },
      },
      bus: {
        publish: (...message) => memory.bus.publish(...message),
        async subscribe(topic, ...listeners) {
          const unsubscribe = await memory.bus.subscribe(topic, ...listeners)
          open += 1
          return async () => {
            open -= 1
            await unsubscribe()
          }
        },
      },
    }
    const server = create({ store }).tool('t', { task: 'required' }, async (_, ctx) =>
      (await continueAsTask(ctx))?.handOff(),
    )
    const peer = connectPeer(server)
    const ids = [(await peer.call('t')).taskId, (await peer.call('t')).taskId]
    await expect.poll(() => open).toBe(0)
    failing = ids[0] as string
    const refused = await peer.send('subscriptions/listen', { notifications: { taskIds: ids } })
    expect(refused).toMatchObject({ code: -32603 })
    await pause(60)
    await expect.poll(() => open).toBe(0)
  })

  it('sends a state later that could not be read', async () => {
    let fails = false
    let failures = 0
    let ask = () => {}
    const isWanted = new Promise<void>((resolve) => {
      ask = resolve
    })
    const store = storeWith((stored) => ({
      get(id) {
        if (!fails) return stored.get(id)
        failures += 1
        throw unreachable()
      },
    }))
    const server = create({ store }).tool('t', { task: 'required' }, async (_, ctx) => {
      await isWanted
      return (await ctx.elicit('yes', approval)).action
    })
    const peer = connectPeer(server)
    const { taskId } = await peer.call('t')
    void peer.send('subscriptions/listen', { notifications: { taskIds: [taskId] } })
    await expect.poll(() => peer.heard.at(-1)?.params?.status).toBe('working')
    fails = true
    ask()
    await expect.poll(() => failures).toBeGreaterThan(0)
    fails = false
    await expect.poll(() => peer.heard.at(-1)?.params?.status, { timeout: 5_000 }).toBe('input_required')
  })
})

describe('a store that cannot be reached', () => {
  it('is named to the client by every request about tasks, and reported to onError', async () => {
    const errors: unknown[] = []
    let isReachable = true
    const store = storeWith((stored) => {
      const failing =
        (name: keyof TaskStore) =>
        async (...args: never[]) => {
          if (!isReachable) throw unreachable()
          return (stored[name] as (...all: never[]) => unknown)(...args)
        }
      const names = ['create', 'get', 'update'] as const
      return Object.fromEntries(names.map((name) => [name, failing(name)])) as unknown as TaskStore
    })
    let runs = 0
    const server = create({ store, onError: (error) => errors.push(error) }).tool('t', { task: 'required' }, () => {
      runs += 1
      return 'done'
    })
    const peer = connectPeer(server)
    const { taskId = '' } = await peer.call('t')
    await finish(peer, taskId)
    isReachable = false
    const named = {
      code: -32603,
      message: expect.stringContaining('send the request again'),
      data: { reason: 'store' },
    }
    expect(await peer.get(taskId)).toMatchObject(named)
    expect(await peer.update(taskId, { q: yes })).toMatchObject(named)
    expect(await peer.cancel(taskId)).toMatchObject(named)
    expect(await peer.call('t')).toMatchObject(named)
    expect(errors.map(String)).toEqual(Array(4).fill('Error: The store cannot be reached'))
    isReachable = true
    expect((await peer.get(taskId)).status).toBe('completed')
    expect(runs).toBe(1)
  })
})
