import { type JsonObject, RpcError, type Store, TASKS_EXTENSION, type TaskStore } from '@mcpx/protocol'
import { memoryStore } from '@mcpx/protocol/memory'
import { approve, createServer, elicit, type Server } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { continueAsTask, TaskEnded, type TaskHandle, type TasksOptions, tasks } from './index.ts'
import { closePeers, connectPeer, type PeerOptions } from './peer.fixture.ts'

const servers: { close(): void }[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
  await closePeers()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const accept = (content: JsonObject) => ({ action: 'accept', content })
const Yes = z.object({ yes: z.boolean() })
const approval = { message: 'Ship it?', schema: Yes }

interface NodeOptions extends TasksOptions {
  readonly secret?: string
  readonly onError?: (error: unknown) => void
}

/** Creates a server that shares a store, as one process of several. */
function createNode(store: Store, add: (server: Server) => unknown, options: NodeOptions = {}) {
  const { secret = 'the same in every process', onError = () => {}, ...taskOptions } = options
  const server = createServer(
    { name: 'node', version: '1' },
    { store, secrets: [secret], onError, extensions: [tasks({ inlineTime: 30, lease: 600, ...taskOptions })] },
  )
  add(server)
  servers.push(server)
  return server
}

/** A store that can be cut off from one process, as if the process had stopped. */
function createCutStore(store: Store) {
  const state = { isCut: false }
  const cut =
    <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
    (...args: Args) =>
      state.isCut ? (new Promise(() => {}) as Result) : call(...args)
  const { tasks: stored, bus } = store
  const { create, get, update, renew, claim } = stored as TaskStore
  return {
    store: {
      ...store,
      tasks: { create: cut(create), get: cut(get), update: cut(update), renew: cut(renew), claim: cut(claim) },
      bus: { publish: cut(bus.publish), subscribe: cut(bus.subscribe) },
    } as Store,
    cut: () => {
      state.isCut = true
    },
    connect: () => {
      state.isCut = false
    },
  }
}

describe('two processes with one store', () => {
  const ask = (server: Server) =>
    server.tool('ask', { task: 'required' }, async (_, ctx) => String((await ctx.elicit('yes', approval)).content?.yes))

  it('serve the same task: one runs it, the other reads, answers and cancels it', async () => {
    const store = memoryStore()
    const near = connectPeer(createNode(store, ask, { lease: 60_000 }))
    const far = connectPeer(createNode(store, ask, { lease: 60_000 }))
    const { taskId } = await near.call('ask')
    expect(await far.get(taskId)).toMatchObject({ taskId })
    await far.until(taskId, 'input_required')
    await far.update(taskId, { yes: accept({ yes: true }) })
    expect((await near.until(taskId, 'completed')).result?.content[0]?.text).toBe('true')

    const { taskId: other } = await near.call('ask')
    await far.until(other, 'input_required')
    await far.cancel(other)
    expect(await near.get(other)).toMatchObject({ status: 'cancelled' })
  })

  it('notice changes without the bus when the lease is renewed', async () => {
    const store = { ...memoryStore(), bus: { publish() {}, subscribe: () => () => {} } }
    const near = connectPeer(createNode(store, ask))
    const far = connectPeer(createNode(store, ask))
    const { taskId } = await near.call('ask')
    await far.until(taskId, 'input_required')
    await far.update(taskId, { yes: accept({ yes: true }) })
    expect((await far.until(taskId, 'completed')).result?.content[0]?.text).toBe('true')
  })

  it('keep working if the bus fails, and report it', async () => {
    const failing = () => {
      throw new Error('no bus')
    }
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const store = { ...memoryStore(), bus: { publish: failing, subscribe: failing } }
    const peer = connectPeer(createNode(store, (s) => s.tool('t', { task: 'required' }, () => 'x'), { onError }))
    const { taskId } = await peer.call('t')
    await peer.until(taskId, 'completed')
    expect(errors).toContainEqual(new Error('no bus'))
  })
})

describe('a process that dies', () => {
  interface Log {
    readonly steps: string[]
    runs: number
  }
  const ship =
    (log: Log, node: string, wait: () => Promise<unknown> = async () => {}) =>
    (server: Server) =>
      server.tool(
        'ship',
        { task: 'required', resumable: true, input: z.object({ item: z.string() }) },
        async ({ item }, ctx) => {
          log.runs++
          const charge = await ctx.step('charge', async () => {
            log.steps.push(`charge by ${node}`)
            return { id: `charge-${item}` }
          })
          await wait()
          const answer = await ctx.elicit('approve', approval)
          const parcel = await ctx.step('ship', async () => {
            log.steps.push(`ship by ${node}`)
            return `parcel by ${node}`
          })
          return `${charge.id} ${answer.content?.yes} ${parcel} for ${ctx.auth?.subject} with ${ctx.meta['com.example/trace']}`
        },
      )

  it('is replaced by another one, which runs the handler again with its finished steps and answers', async () => {
    const store = memoryStore()
    const first = createCutStore(store)
    const log = { steps: [], runs: 0 }
    const ada: PeerOptions = { auth: { subject: 'ada', scopes: [] } }
    const near = connectPeer(createNode(first.store, ship(log, 'first')), ada)
    const { taskId } = await near.send('tools/call', {
      name: 'ship',
      arguments: { item: 'book' },
      _meta: { 'com.example/trace': '42' },
    })
    const far = connectPeer(createNode(store, ship(log, 'second')), ada)
    await far.until(taskId, 'input_required')
    first.cut()
    await expect.poll(() => log.runs, { timeout: 3_000 }).toBe(2)
    expect(await far.get(taskId)).toMatchObject({ status: 'input_required' })
    await far.update(taskId, { approve: accept({ yes: true }) })
    const { result } = await far.until(taskId, 'completed')
    expect(result?.content[0]?.text).toBe('charge-book true parcel by second for ada with 42')
    expect(log.steps).toEqual(['charge by first', 'ship by second'])
  })

  it('keeps answers that arrived before it died', async () => {
    const store = memoryStore()
    const first = createCutStore(store)
    const answers: unknown[] = []
    const tool = (wait: () => Promise<unknown>) => (server: Server) =>
      server.tool('t', { task: 'auto', resumable: true }, async (_, ctx) => {
        const before = await ctx.elicit('before', approval)
        await continueAsTask(ctx)
        const after = await ctx.elicit('after', approval)
        answers.push([before.content, after.content])
        await wait()
        return 'done'
      })
    const near = connectPeer(
      createNode(
        first.store,
        tool(() => new Promise(() => {})),
      ),
    )
    const { taskId } = await near.call('t', {}, { inputResponses: { before: accept({ yes: true }) } })
    const far = connectPeer(
      createNode(
        store,
        tool(async () => {}),
      ),
    )
    await far.until(taskId, 'input_required')
    await far.update(taskId, { after: accept({ yes: false }) })
    await expect.poll(() => answers).toHaveLength(1)
    first.cut()
    await far.until(taskId, 'completed')
    expect(answers).toEqual([
      [{ yes: true }, { yes: false }],
      [{ yes: true }, { yes: false }],
    ])
  })

  it('is told when it comes back, and cannot change the task', async () => {
    const store = memoryStore()
    const first = createCutStore(store)
    const log = { steps: [], runs: 0 }
    let reason: unknown
    let stepError: unknown
    let lateSteps = 0
    let resume = () => {}
    const isConnected = new Promise<void>((resolve) => {
      resume = resolve
    })
    const zombie = (server: Server) =>
      server.tool('ship', { task: 'required', resumable: true }, async (_, ctx) => {
        ctx.signal.addEventListener('abort', () => {
          reason = ctx.signal.reason
        })
        await isConnected
        await ctx
          .step('late', () => {
            lateSteps += 1
          })
          .catch((error) => {
            stepError = error
          })
        return 'late'
      })
    const near = connectPeer(createNode(first.store, zombie))
    const { taskId } = await near.call('ship', { item: 'book' })
    const far = connectPeer(createNode(store, ship(log, 'second')))
    first.cut()
    await far.until(taskId, 'input_required')
    first.connect()
    resume()
    await expect.poll(() => stepError, { timeout: 3_000 }).toBeInstanceOf(TaskEnded)
    expect(reason).toMatchObject({ name: 'TaskEnded', reason: 'lost' })
    // Its lease has lapsed, so it asks the store before it begins a step that the other process may have run.
    expect(lateSteps).toBe(0)
    await far.update(taskId, { approve: accept({ yes: true }) })
    expect((await far.until(taskId, 'completed')).result?.content[0]?.text).toContain('parcel by second')
  })

  it('fails its tasks that are not resumable, with the reason', async () => {
    const store = memoryStore()
    const first = createCutStore(store)
    const hang = (server: Server) => server.tool('t', { task: 'required' }, () => new Promise<string>(() => {}))
    const { taskId } = await connectPeer(createNode(first.store, hang)).call('t')
    const far = connectPeer(createNode(store, hang))
    first.cut()
    expect(await far.until(taskId, 'failed', 'completed')).toMatchObject({
      status: 'failed',
      statusMessage: 'The process that worked on the task has ended',
      error: { code: -32603, data: { reason: 'lost' } },
    })
  })

  it('fails its tasks if the other process has other secrets, and says so', async () => {
    const store = memoryStore()
    const first = createCutStore(store)
    const log = { steps: [], runs: 0 }
    const errors: Error[] = []
    const onError = (error: unknown) => errors.push(error as Error)
    const { taskId } = await connectPeer(createNode(first.store, ship(log, 'first'))).call('ship', { item: 'x' })
    const far = connectPeer(createNode(store, ship(log, 'second'), { secret: 'another secret for this one', onError }))
    first.cut()
    expect(await far.until(taskId, 'failed')).toMatchObject({ error: { data: { reason: 'secrets' } } })
    expect(errors.map(({ message }) => message)).toContainEqual(expect.stringContaining('pass the same `secrets`'))
    expect(log.runs).toBe(1)
  })

  it('fails a task that ends every process that continues it', async () => {
    const store = memoryStore()
    let runs = 0
    const poison = (server: Server) =>
      server.tool('t', { task: 'required', resumable: true }, () => {
        runs++
        return new Promise<string>(() => {})
      })
    const options = { limits: { resumptions: 2 } }
    let taskId = ''
    for (let dead = 0; dead < 3; dead++) {
      const dying = createCutStore(store)
      const peer = connectPeer(createNode(dying.store, poison, options))
      if (dead === 0) ({ taskId } = await peer.call('t'))
      await expect.poll(() => runs, { timeout: 3_000 }).toBe(dead + 1)
      dying.cut()
    }
    const alive = connectPeer(createNode(store, poison, options))
    expect(await alive.until(taskId, 'failed')).toMatchObject({
      error: { message: '2 processes that worked on the task have ended', data: { reason: 'lost' } },
    })
  })

  it('is replaced with arguments of more than 1 MiB, if `limits.data` allows them', async () => {
    const store = memoryStore()
    const limits = { data: 8_000_000 }
    const add = (server: Server, name: string) =>
      server.tool(
        't',
        { task: 'required', resumable: true, input: z.object({ text: z.string() }) },
        async (args, ctx) => {
          if (name === 'second') return `${args.text.length}`
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
          return ''
        },
      )
    const first = createNode(store, (server) => add(server, 'first'), { limits })
    const { taskId } = await connectPeer(first).call('t', { text: 'x'.repeat(2_000_000) })
    first.close()
    const second = createNode(store, (server) => add(server, 'second'), { limits })
    const { result } = await connectPeer(second).until(taskId, 'completed', 'failed')
    expect(result?.content[0]?.text).toBe('2000000')
  })

  it('is replaced by a process that resumes only as many tasks at once as `limits.arguments` allows', async () => {
    const store = memoryStore()
    let running = 0
    let most = 0
    const add = (server: Server, name: string) =>
      server.tool('t', { task: 'required', resumable: true }, async (_args, ctx) => {
        if (name === 'first') return new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve('')))
        running += 1
        most = Math.max(most, running)
        await pause(20)
        running -= 1
        return 'resumed'
      })
    const first = createNode(store, (server) => add(server, 'first'))
    const peer = connectPeer(first)
    const calls = Array.from({ length: 8 }, () => peer.call('t', { text: 'x'.repeat(20_000) }))
    const ids = (await Promise.all(calls)).map(({ taskId }) => taskId)
    first.close()
    const limits = { arguments: 50_000, perCaller: 1 }
    const second = connectPeer(createNode(store, (server) => add(server, 'second'), { limits, lease: 1_000 }))
    for (const id of ids) await second.until(id, 'completed')
    // Two within the limit, and one above it.
    expect(most).toBe(3)
  })

  it('is replaced by one of 20 processes', async () => {
    const store = memoryStore()
    const first = createCutStore(store)
    const log: Log = { steps: [], runs: 0 }
    const { taskId } = await connectPeer(createNode(first.store, ship(log, 'first'))).call('ship', { item: 'x' })
    await expect.poll(() => log.steps).toEqual(['charge by first'])
    const others = Array.from({ length: 20 }, (_, n) => connectPeer(createNode(store, ship(log, `node ${n}`))))
    first.cut()
    await expect.poll(() => log.runs, { timeout: 3_000 }).toBe(2)
    await Promise.all(others.map((peer) => peer.get(taskId)))
    await others[7]?.update(taskId, { approve: accept({ yes: true }) })
    await others[3]?.until(taskId, 'completed')
    await pause(300)
    expect(log.runs).toBe(2)
    expect(log.steps).toHaveLength(2)
  })

  it('leaves resumable tasks to others at once when its server is closed', async () => {
    const store = memoryStore()
    const log = { steps: [], runs: 0 }
    const first = createNode(store, ship(log, 'first'), { lease: 60_000 })
    const { taskId } = await connectPeer(first).call('ship', { item: 'x' })
    await expect.poll(() => log.runs).toBe(1)
    const far = connectPeer(createNode(store, ship(log, 'second')))
    await far.until(taskId, 'input_required')
    first.close()
    await expect.poll(() => log.runs, { timeout: 3_000 }).toBe(2)
    await far.update(taskId, { approve: accept({ yes: true }) })
    await far.until(taskId, 'completed')
    expect(log.steps).toEqual(['charge by first', 'ship by second'])
  })

  it('does not ask again for what middleware has asked before the task', async () => {
    const store = memoryStore()
    const first = createCutStore(store)
    let runs = 0
    const guarded = (server: Server) =>
      server.use(approve({ message: 'Run it?' })).tool('t', { task: 'required', resumable: true }, async () => {
        runs++
        return runs === 1 ? new Promise<string>(() => {}) : 'done'
      })
    const peer = connectPeer(createNode(first.store, guarded))
    const asked = await peer.call('t')
    expect(asked).toMatchObject({ resultType: 'input_required', inputRequests: { 'mcpx.approve.t': {} } })
    const { taskId } = await peer.call('t', {}, { inputResponses: { 'mcpx.approve.t': accept({}) } })
    const far = connectPeer(createNode(store, guarded))
    first.cut()
    expect(await far.until(taskId, 'completed', 'input_required')).toMatchObject({ status: 'completed' })
    expect(runs).toBe(2)
  })

  it('has its middleware run again with the caller, and a refusal of it ends the task', async () => {
    const store = memoryStore()
    const first = createCutStore(store)
    const log = { steps: [], runs: 0 }
    const guarded = (node: string, isRefusing: boolean) => (server: Server) =>
      ship(
        log,
        node,
      )(
        server.use((request, ctx, next) => {
          if (isRefusing && request.method === 'tools/call') throw new RpcError(403, `no more, ${ctx.auth?.subject}`)
          return next()
        }),
      )
    const ada: PeerOptions = { auth: { subject: 'ada', scopes: [] } }
    const { taskId } = await connectPeer(createNode(first.store, guarded('first', false)), ada).call('ship', {
      item: 'x',
    })
    const far = connectPeer(createNode(store, guarded('second', true)), ada)
    first.cut()
    expect(await far.until(taskId, 'failed')).toMatchObject({ error: { code: 403, message: 'no more, ada' } })
  })
})

describe('the store of tasks', () => {
  it('has the task before the client receives it, and never less', async () => {
    const store = memoryStore()
    const created: string[] = []
    const slow: TaskStore = {
      ...(store.tasks as TaskStore),
      async create(id, ...task) {
        await pause(50)
        await store.tasks?.create(id, ...task)
        created.push(id)
      },
    }
    const node = createNode({ ...store, tasks: slow }, (server) => server.tool('t', { task: 'required' }, () => 'x'))
    const { taskId } = await connectPeer(node).call('t')
    expect(created).toEqual([taskId])
  })

  it('fails "required" calls and lets "auto" calls respond plainly if it cannot store them', async () => {
    const store = memoryStore()
    const full = { ...(store.tasks as TaskStore), create: () => Promise.reject(new Error('full')) }
    const node = createNode({ ...store, tasks: full }, (server) =>
      server
        .tool('required', { task: 'required' }, () => 'x')
        .tool('auto', { task: 'auto' }, async (_, ctx) => {
          await pause(60)
          return `${await continueAsTask(ctx)} ${await ctx.step('s', () => 1)}`
        }),
    )
    const peer = connectPeer(node)
    expect(await peer.call('required')).toMatchObject({ code: -32603 })
    expect(await peer.call('auto')).toMatchObject({ resultType: 'complete', content: [{ text: 'undefined 1' }] })
  })

  it('is written again after it could not be reached', async () => {
    const store = memoryStore()
    let failures = 3
    const unreliable: TaskStore = {
      ...(store.tasks as TaskStore),
      update(...change) {
        if (failures-- > 0) throw Object.assign(new Error('not reachable'), { retryable: true })
        return (store.tasks as TaskStore).update(...change)
      },
    }
    const node = createNode({ ...store, tasks: unreliable }, (server) =>
      server.tool('t', { task: 'required' }, () => 'x'),
    )
    const peer = connectPeer(node)
    expect(await peer.until((await peer.call('t')).taskId, 'completed')).toMatchObject({ status: 'completed' })
  })

  it('does not contain the arguments and the caller in plain text', async () => {
    const store = memoryStore()
    const written: string[] = []
    const spying: TaskStore = {
      ...(store.tasks as TaskStore),
      create(id, data, ...more) {
        written.push(data)
        return (store.tasks as TaskStore).create(id, data, ...more)
      },
    }
    const node = createNode({ ...store, tasks: spying }, (server) =>
      server.tool('t', { task: 'required', resumable: true, input: z.object({ card: z.string() }) }, () => 'x'),
    )
    const claims = { email: 'ada@example.com' }
    await connectPeer(node, { auth: { subject: 'ada', scopes: [], claims } }).call('t', { card: '4111-1111' })
    expect(written).toHaveLength(1)
    expect(written[0]).not.toMatch(/4111|ada@example/)
  })
})

describe('subscriptions to tasks', () => {
  const idle = (server: Server) =>
    server.tool('t', { task: 'required' }, async (_, ctx) => String((await ctx.elicit('yes', approval)).content?.yes))
  const states = ({ heard }: { heard: readonly { method: string; params?: JsonObject | undefined }[] }) =>
    heard.filter(({ method }) => method === 'notifications/tasks').map(({ params }) => params)
  const listen = (taskIds: unknown) => ({ notifications: { taskIds } as JsonObject })

  it('send each state of a task as tasks/get returns it, also of another process', async () => {
    const store = memoryStore()
    const near = connectPeer(createNode(store, idle))
    const far = connectPeer(createNode(store, idle))
    const { taskId } = await near.call('t')
    await near.until(taskId, 'input_required')
    void far.send('subscriptions/listen', listen([taskId, 'unknown']))
    await expect.poll(() => states(far)).toHaveLength(1)
    expect(far.heard[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] } },
    })
    const { _meta, resultType, ...asked } = (await near.get(taskId)) as unknown as JsonObject
    expect(states(far)[0]).toEqual({
      ...asked,
      _meta: { 'io.modelcontextprotocol/subscriptionId': expect.anything() },
    })
    await near.update(taskId, { yes: accept({ yes: true }) })
    await expect
      .poll(() => states(far).at(-1))
      .toMatchObject({ status: 'completed', result: { content: [{ text: 'true' }] } })
    for (const state of states(far)) expect(state).toMatchObject({ taskId })
    expect(far.heard.every(({ method }) => !/progress|message/.test(method))).toBe(true)
  })

  it('send no progress and no log messages of the handler', async () => {
    const node = createNode(memoryStore(), (server) =>
      server.tool('t', { task: 'required' }, async (_, ctx) => {
        await ctx.elicit('yes', { message: 'Begin?', schema: z.object({ yes: z.boolean() }) })
        ctx.log.error('logged')
        await ctx.progress(1, 2, 'half')
        await pause(20)
        return 'done'
      }),
    )
    const peer = connectPeer(node)
    const { taskId } = await peer.call('t')
    await peer.until(taskId, 'input_required')
    void peer.send('subscriptions/listen', listen([taskId]))
    await expect.poll(() => states(peer)).toHaveLength(1)
    await peer.update(taskId, { yes: accept({ yes: true }) })
    await expect.poll(() => states(peer).at(-1)).toMatchObject({ status: 'completed' })
    const methods = new Set(peer.heard.map(({ method }) => method))
    expect([...methods].sort()).toEqual(['notifications/subscriptions/acknowledged', 'notifications/tasks'])
  })

  it('send no state twice, also when messages of the bus may have been lost', async () => {
    const store = memoryStore()
    const gaps: (() => void)[] = []
    const bus: Store['bus'] = {
      ...store.bus,
      subscribe(topic, listener, onGap) {
        if (onGap !== undefined) gaps.push(onGap)
        return store.bus.subscribe(topic, listener, onGap)
      },
    }
    const peer = connectPeer(createNode({ ...store, bus }, idle))
    const { taskId } = await peer.call('t')
    await peer.until(taskId, 'input_required')
    void peer.send('subscriptions/listen', listen([taskId]))
    await expect.poll(() => states(peer)).toHaveLength(1)
    for (const onGap of gaps) onGap()
    await pause(50)
    expect(states(peer)).toHaveLength(1)
  })

  it('send the state of a task that has ended before', async () => {
    const peer = connectPeer(createNode(memoryStore(), (server) => server.tool('t', { task: 'required' }, () => 'x')))
    const { taskId } = await peer.call('t')
    await peer.until(taskId, 'completed')
    void peer.send('subscriptions/listen', listen([taskId]))
    await expect.poll(() => states(peer)).toMatchObject([{ status: 'completed' }])
  })

  it('leave out tasks of other callers', async () => {
    const node = createNode(memoryStore(), idle)
    const { taskId } = await connectPeer(node, { auth: { subject: 'ada', scopes: [] } }).call('t')
    const bob = connectPeer(node, { auth: { subject: 'bob', scopes: [] } })
    void bob.send('subscriptions/listen', listen([taskId]))
    await expect.poll(() => bob.heard).toHaveLength(1)
    expect(bob.heard[0]?.params).toMatchObject({ notifications: { taskIds: [] } })
  })

  it('are refused without the declaration, for other values than ids, and for too many', async () => {
    const node = createNode(memoryStore(), idle, { limits: { subscriptions: 2 } })
    const undeclared = connectPeer(node, { capabilities: {} })
    expect(await undeclared.send('subscriptions/listen', listen(['x']))).toMatchObject({ code: -32021 })
    const peer = connectPeer(node)
    const invalid: [unknown, string][] = [
      ['x', ': expected array'],
      [{}, ': expected array'],
      [[7], '[0]: expected string'],
      [['x'.repeat(1_025)], '[0]: expected at most 1024 characters'],
    ]
    for (const [value, problem] of invalid) {
      const message = `params.notifications.taskIds${problem}`
      expect(await peer.send('subscriptions/listen', listen(value))).toMatchObject({ code: -32602, message })
    }
    expect(await peer.send('subscriptions/listen', listen(['a', 'b', 'c']))).toMatchObject({
      code: -32602,
      message: 'params.notifications.taskIds: expected at most 2, got 3',
    })
  })
})

describe('tasks.handle', () => {
  const handOff = (server: Server) =>
    server.tool('render', { task: 'auto', resumable: true }, async (_, ctx) => {
      const task = await continueAsTask(ctx)
      if (task === undefined) return 'rendered here'
      queue.push(task.id)
      return task.handOff()
    })
  const queue: string[] = []
  afterEach(() => void queue.splice(0))

  it('reports on, asks in, and completes a task that its handler has handed off', async () => {
    const store = memoryStore()
    const peer = connectPeer(createNode(store, handOff))
    const { taskId } = await peer.call('render')
    await expect.poll(() => queue).toEqual([taskId])
    const worker = tasks({ store }).handle(taskId)
    expect(await worker.state()).toMatchObject({ status: 'working', tool: 'render' })
    expect(await worker.report('half')).toBe(true)
    expect(await peer.get(taskId)).toMatchObject({ status: 'working', statusMessage: 'half' })
    const answer = worker.ask('yes', elicit(approval))
    await peer.until(taskId, 'input_required')
    await peer.update(taskId, { yes: accept({ yes: 7 }) })
    await peer.until(taskId, 'input_required')
    await peer.update(taskId, { 'yes#2': accept({ yes: true }) })
    expect(await answer).toEqual(accept({ yes: true }))
    // A worker that is started again finds the answer.
    expect(await tasks({ store }).handle(taskId).ask('yes', elicit(approval))).toEqual(accept({ yes: true }))
    expect(await worker.complete('a picture')).toBe(true)
    expect(await peer.get(taskId)).toMatchObject({ status: 'completed', result: { content: [{ text: 'a picture' }] } })
    expect(await worker.complete('another')).toBe(false)
    expect(await worker.report('more')).toBe(false)
    await expect(worker.ask('more', elicit(approval))).rejects.toMatchObject({ name: 'TaskEnded', reason: 'completed' })
  })

  it('is not taken over by other processes, and is stopped by its client', async () => {
    const store = memoryStore()
    const node = createNode(store, handOff)
    const peer = connectPeer(node)
    const { taskId } = await peer.call('render')
    await expect.poll(() => queue).toEqual([taskId])
    const worker = tasks({ store }).handle(taskId)
    const asked = worker.ask('yes', elicit(approval))
    asked.catch(() => {})
    await pause(400)
    expect(queue).toEqual([taskId])
    await peer.cancel(taskId)
    await expect(asked).rejects.toMatchObject({ name: 'TaskEnded', reason: 'cancelled' })
    expect(await worker.report('x')).toBe(false)
  })

  it('fails and cancels tasks, whose handlers are then aborted', async () => {
    const store = memoryStore()
    const reasons: unknown[] = []
    const hang = (server: Server) =>
      server.tool('t', { task: 'required' }, async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        reasons.push(signal.reason.reason)
        return ''
      })
    const peer = connectPeer(createNode(store, hang))
    const [first, second] = [await peer.call('t'), await peer.call('t')]
    expect(await tasks({ store }).handle(first.taskId).fail('no paper')).toBe(true)
    expect(await tasks({ store }).handle(second.taskId).cancel()).toBe(true)
    expect(await peer.get(first.taskId)).toMatchObject({
      status: 'failed',
      error: { code: -32603, message: 'no paper' },
    })
    expect(await peer.get(second.taskId)).toMatchObject({ status: 'cancelled' })
    await expect.poll(() => reasons).toEqual(['failed', 'cancelled'])
  })

  it('says that a task does not exist', async () => {
    const unknown = tasks({ store: memoryStore() }).handle('unknown')
    expect(await unknown.state()).toBeUndefined()
    expect(await unknown.report('x')).toBe(false)
    await expect(unknown.ask('x', elicit(approval))).rejects.toMatchObject({ reason: 'unknown' })
  })

  it.each<[string, (handle: TaskHandle) => Promise<unknown>, string]>([
    ['no content', (handle) => handle.complete({} as never), 'handle.complete: result.content: expected array'],
    ['no result', (handle) => handle.complete(undefined as never), 'handle.complete: result: expected object'],
    [
      'another error, whose message may be a secret',
      (handle) => handle.fail(new Error('secret') as never),
      'got Error',
    ],
    ['no error', (handle) => handle.fail(undefined as never), 'expected a message for the client or an RpcError'],
    ['a number as a report', (handle) => handle.report(5 as never), 'handle.report: expected string, got number'],
    ['no question', (handle) => handle.ask('key', {} as never), 'handle.ask, question: expected object, got nothing'],
    ['no key', (handle) => handle.ask(undefined as never, elicit(approval)), 'handle.ask, key: expected string'],
  ])('rejects %s, which clients could not read', async (_, use, message) => {
    const store = memoryStore()
    const peer = connectPeer(createNode(store, handOff))
    const { taskId } = await peer.call('render')
    await expect(use(tasks({ store }).handle(taskId))).rejects.toThrow(message)
    expect(await peer.get(taskId)).toMatchObject({ status: 'working' })
  })

  it('stops waiting for an answer when the signal is aborted', async () => {
    const store = memoryStore()
    const peer = connectPeer(createNode(store, handOff))
    const { taskId } = await peer.call('render')
    await expect.poll(() => queue).toEqual([taskId])
    const abort = new AbortController()
    const answer = tasks({ store }).handle(taskId).ask('yes', elicit(approval), { signal: abort.signal })
    await peer.until(taskId, 'input_required')
    abort.abort(new Error('enough'))
    await expect(answer).rejects.toThrow('enough')
    expect(await peer.get(taskId)).toMatchObject({ status: 'input_required' })
  })

  it('works with the extension of a server as well', async () => {
    const extension = tasks({ inlineTime: 30 })
    const server = createServer({ name: 'one', version: '1' }, { extensions: [extension] })
    servers.push(server)
    handOff(server)
    const peer = connectPeer(server)
    const { taskId } = await peer.call('render')
    expect(await extension.handle(taskId).complete('x')).toBe(true)
    expect(await peer.get(taskId)).toMatchObject({ status: 'completed' })
    expect(await connectPeer(server, { capabilities: {} }).call('render')).toMatchObject({
      content: [{ text: 'rendered here' }],
    })
    expect(TASKS_EXTENSION).toBe(extension.id)
  })
})
