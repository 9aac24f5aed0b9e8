import { ConnectionError, invalidParams, type JsonObject, RpcError, type Task } from '@mcpx/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connectorTo, META } from '../test/scripted-server.ts'
import { form, type ServerTask, TASKS_ID, taskServer } from '../test/task-server.ts'
import { connect, connectAll, TaskError } from './index.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function wait(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

/** Lets time pass until a promise is settled, at most an hour. */
async function settled<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false
  const noted = promise.finally(() => {
    isSettled = true
  })
  noted.catch(() => {})
  for (let second = 0; second < 3_600 && !isSettled; second++) await wait(1_000)
  return noted
}

/** The times between the polls of a server, in ms. */
function recordPolls({ server }: ReturnType<typeof taskServer>, from: number): () => number[] {
  const times: number[] = []
  const { respond } = server
  server.respond = (message, exchange) => {
    if (message.method === 'tasks/get') times.push(performance.now())
    return respond.call(server, message, exchange)
  }
  return () => times.map((time, index) => Math.round(time - (times[index - 1] ?? from)))
}

describe('a call that becomes a task', () => {
  it('returns the result as if it had come at once', async () => {
    let n = 42
    const complete = (task: ServerTask) => task.complete(`${n}`, { structuredContent: { n } })
    const tasks = taskServer({ run: (task) => void setTimeout(complete, 2_500, task) })
    await using client = await connect(tasks.server)
    expect(await settled(client.callTool('slow'))).toEqual({
      content: [{ type: 'text', text: '42' }],
      structuredContent: { n: 42 },
    })
    n = 43
    expect(await settled(client.tools.slow?.() ?? Promise.reject())).toEqual({ n: 43 })
    expect(new Set(tasks.methods)).toEqual(new Set(['tasks/get']))
  })

  it('is declared with each request, unless `tasks` is false', async () => {
    const tasks = taskServer({ run: (task) => task.complete() })
    await using client = await connect(tasks.server)
    await settled(client.callTool('slow'))
    for (const { params } of tasks.server.heard.filter((each) => 'id' in each)) {
      expect(params?._meta).toMatchObject({ [`${META}clientCapabilities`]: { extensions: { [TASKS_ID]: {} } } })
    }
    const plain = taskServer({ run: (task) => task.complete() })
    await using other = await connect(plain.server, { tasks: false })
    await expect(other.callTool('slow')).rejects.toMatchObject({
      reason: 'invalid-message',
      message: expect.stringContaining('result.resultType: expected a type that this request allows'),
    })
    for (const { params } of plain.server.heard) {
      expect(params?._meta).toHaveProperty([`${META}clientCapabilities`], {})
    }
  })

  it('has an output that is checked', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    const tasks = taskServer({
      run: (task) => task.complete('', { structuredContent: { n: 'x' } }),
      answers: { 'tools/list': () => ({ tools: [{ name: 'slow', inputSchema: { type: 'object' }, outputSchema }] }) },
    })
    await using client = await connect(tasks.server)
    await client.listTools().all()
    await expect(settled(client.callTool('slow'))).rejects.toThrow('The output of tool "slow" was refused')
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    await expect(settled(handle.result())).rejects.toThrow('The output of tool "slow" was refused')
  })

  it('has a result that is checked', async () => {
    const tasks = taskServer({
      run: (task) => task.set({ status: 'completed', result: { content: [{ type: 'text' }] } }),
    })
    await using client = await connect(tasks.server)
    await expect(settled(client.callTool('slow'))).rejects.toThrow(
      'result.content[0].text: expected string, got nothing',
    )
  })

  it('returns the result of a tool that failed', async () => {
    const tasks = taskServer({ run: (task) => task.complete('no', { isError: true }) })
    await using client = await connect(tasks.server)
    expect(await settled(client.callTool('slow'))).toMatchObject({ isError: true })
  })

  it('rejects with the error of a task that failed', async () => {
    const error = { code: -32_050, message: 'Out of paper', data: { tray: 2 } }
    const tasks = taskServer({ run: (task) => task.set({ status: 'failed', error }) })
    await using client = await connect(tasks.server)
    const failure = await settled(client.callTool('slow')).catch((reason: unknown) => reason)
    expect(failure).toBeInstanceOf(RpcError)
    expect(failure).toMatchObject(error)
    expect(tasks.methods).toEqual(['tasks/get'])
  })

  it('rejects with a named error when it was cancelled', async () => {
    const tasks = taskServer({ run: (task) => task.set({ status: 'cancelled', statusMessage: 'the shop is closed' }) })
    await using client = await connect(tasks.server)
    const failure = await settled(client.callTool('slow')).catch((reason: unknown) => reason)
    expect(failure).toBeInstanceOf(TaskError)
    expect(failure).toMatchObject({ name: 'TaskError', reason: 'cancelled', taskId: 'task-1' })
    expect(String(failure)).toContain('tools/call "slow" has no result: the shop is closed')
    expect(tasks.methods).toEqual(['tasks/get'])
  })

  it('is only allowed for tools/call', async () => {
    const created = { taskId: 't', status: 'working', createdAt: '', lastUpdatedAt: '', ttlMs: null }
    const tasks = taskServer({ answers: { 'tools/list': () => ({ resultType: 'task', ...created }) } })
    await using client = await connect(tasks.server)
    await expect(client.listTools().all()).rejects.toThrow(
      'result.resultType: expected a type that this request allows',
    )
    expect(tasks.methods).toEqual([])
  })

  it('reports its states to onStatus, each once', async () => {
    const tasks = taskServer({ state: { statusMessage: 'queued' } })
    const seen: Task[] = []
    await using client = await connect(tasks.server)
    const called = client.callTool('slow', {}, { onStatus: (task) => void seen.push(task) })
    await wait(3_000)
    tasks.task.set({ statusMessage: 'half' })
    await wait(6_000)
    tasks.task.complete()
    await settled(called)
    expect(seen.map(({ taskId, status, statusMessage }) => [taskId, status, statusMessage])).toEqual([
      ['task-1', 'working', 'queued'],
      ['task-1', 'working', 'half'],
      ['task-1', 'completed', 'half'],
    ])
  })

  it('follows a task that has ended when it is created', async () => {
    const tasks = taskServer({ state: { status: 'completed', result: { content: [] }, pollIntervalMs: 60_000 } })
    await using client = await connect(tasks.server)
    const start = performance.now()
    expect(await client.callTool('slow')).toEqual({ content: [] })
    expect(performance.now() - start).toBeLessThan(1_000)
  })

  it('is polled with the metadata and the capabilities of the call', async () => {
    const tasks = taskServer({ run: (task) => task.complete() })
    await using client = await connect(tasks.server)
    const options = { meta: { 'com.example/tenant': 'a' }, capabilities: { roots: {} } }
    await settled(client.request('tools/call', { name: 'slow' }, options))
    const extensions = { [TASKS_ID]: {} }
    expect(tasks.server.asked('tasks/get')[0]?.params).toMatchObject({
      taskId: 'task-1',
      _meta: { 'com.example/tenant': 'a', [`${META}clientCapabilities`]: { roots: {}, extensions } },
    })
  })

  it('can be part of a group', async () => {
    const link = { type: 'resource_link', uri: 'a://b', name: 'b' }
    const tasks = taskServer({ run: (task) => task.complete('', { content: [link] }) })
    await using group = await connectAll({ shop: tasks.server })
    const content = [{ ...link, uri: 'shop.a://b' }]
    expect(await settled(group.callTool('shop_slow'))).toMatchObject({ content })
    const handle = await group.callTool('shop_slow', {}, { task: 'handle' })
    expect(handle.id).toBe('task-2')
    expect(await settled(handle.result())).toMatchObject({ content })
  })
})

describe('polls', () => {
  it.each([
    [{ pollIntervalMs: 7_000 }, [7_000, 7_000, 7_000]],
    [{}, [1_000, 1_500, 2_250]],
    [{ pollIntervalMs: 0 }, [1_000, 1_500, 2_250]],
    [{ pollIntervalMs: -5 }, [1_000, 1_500, 2_250]],
    [{ pollIntervalMs: 1 }, [100, 100, 100]],
    [{ pollIntervalMs: 1e12 }, [300_000]],
  ])('of a task with %j are sent after %j ms', async (state, delays) => {
    const tasks = taskServer({ state: { ttlMs: null, ...state } })
    await using client = await connect(tasks.server)
    const delaysOfPolls = recordPolls(tasks, performance.now())
    const called = client.callTool('slow', {}, { maxTimeout: Number.POSITIVE_INFINITY })
    called.catch(() => {})
    await wait(delays.reduce((sum, each) => sum + each) + 50)
    expect(delaysOfPolls().slice(0, 3)).toEqual(delays)
  })

  it('follow an interval that changes, and grow to 15 s where the server names none', async () => {
    const tasks = taskServer({ state: { ttlMs: null, pollIntervalMs: 200 } })
    await using client = await connect(tasks.server)
    const delays = recordPolls(tasks, performance.now())
    void client.callTool('slow').catch(() => {})
    await wait(450)
    tasks.task.set({ pollIntervalMs: 2_000 })
    await wait(4_500)
    expect(delays()).toEqual([200, 200, 200, 2_000, 2_000])
    tasks.task.set({ pollIntervalMs: undefined })
    await wait(120_000)
    expect(delays().slice(-3)).toEqual([15_000, 15_000, 15_000])
  })

  it('stop when the task has ended', async () => {
    const tasks = taskServer({ run: (task) => task.complete() })
    await using client = await connect(tasks.server)
    await settled(client.callTool('slow'))
    await wait(600_000)
    expect(tasks.methods).toEqual(['tasks/get'])
  })

  it('are repeated when they fail, also over a new connection', async () => {
    const tasks = taskServer()
    const connector = connectorTo(() => tasks.server)
    await using client = await connect(connector)
    const called = settled(client.callTool('slow'))
    await wait(1_500)
    await connector.server.close()
    await wait(5_000)
    tasks.task.complete()
    expect(await called).toMatchObject({ content: [{ text: 'done' }] })
    expect(connector.connections).toBe(2)
    expect(tasks.methods).not.toContain('tasks/cancel')
  })

  it.each([
    ['an internal error', () => new RpcError(-32_603, 'The store is away')],
    ['a rate limit', () => new RpcError(429, 'Slower')],
  ])('are repeated after %s', async (_, createError) => {
    let failures = 3
    const tasks = taskServer({
      answers: {
        'tasks/get': () => {
          if (failures-- > 0) throw createError()
          return tasks.task.state
        },
      },
      run: (task) => task.complete(),
    })
    await using client = await connect(tasks.server)
    expect(await settled(client.callTool('slow'))).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('end when the server cannot be reached for the timeout, with the id of the task', async () => {
    const tasks = taskServer()
    const connector = connectorTo((count) => {
      if (count > 1) throw new ConnectionError('unreachable', 'Nobody is there')
      return tasks.server
    })
    await using client = await connect(connector, { timeout: 20_000 })
    const called = client.callTool('slow')
    called.catch(() => {})
    await wait(1_500)
    await connector.server.close()
    const start = performance.now()
    const failure = await settled(called).catch((reason: ConnectionError) => reason)
    expect(failure).toMatchObject({ name: 'ConnectionError', hint: expect.stringContaining('client.task("task-1")') })
    expect(performance.now() - start).toBeGreaterThan(12_000)
    expect(performance.now() - start).toBeLessThan(30_000)
  })
})

describe('time limits', () => {
  it('of a task are restarted by each answered poll, and capped by maxTimeout, which cancels it', async () => {
    const tasks = taskServer({ state: { ttlMs: null } })
    await using client = await connect(tasks.server, { timeout: 5_000 })
    const called = client.callTool('slow', {}, { maxTimeout: 90_000 })
    called.catch(() => {})
    await wait(89_000)
    expect(tasks.methods).not.toContain('tasks/cancel')
    await wait(2_000)
    await expect(called).rejects.toMatchObject({
      reason: 'timeout',
      message: 'tools/call "slow" is still unfinished after 90000 ms',
    })
    expect(tasks.methods.at(-1)).toBe('tasks/cancel')
    expect(tasks.task.state.status).toBe('cancelled')
  })

  it('of a server that stops answering end the call, and cancel the task', async () => {
    const tasks = taskServer({ answers: { 'tasks/get': () => new Promise(() => {}) } })
    await using client = await connect(tasks.server)
    const called = client.callTool('slow', {}, { timeout: 8_000 })
    called.catch(() => {})
    await wait(15_000)
    await expect(called).rejects.toMatchObject({ reason: 'timeout', hint: expect.stringContaining('task-1') })
    expect(tasks.methods).toContain('tasks/cancel')
  })

  it('do not include the time in which the user answers', async () => {
    const tasks = taskServer({ state: { ttlMs: null }, run: (task) => task.ask({ a: form() }) })
    const onElicit = () =>
      new Promise<{ action: 'decline' }>((resolve) => void setTimeout(resolve, 300_000, { action: 'decline' }))
    await using client = await connect(tasks.server, { onElicit })
    const called = client.callTool('slow', {}, { maxTimeout: 60_000 })
    await wait(301_000)
    expect(tasks.task.responses).toEqual([['a', { action: 'decline' }]])
    await wait(40_000)
    tasks.task.complete()
    expect(await settled(called)).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('of the server are kept: a task that does not end in its time has expired', async () => {
    const tasks = taskServer({ state: { ttlMs: 10_000, pollIntervalMs: 4_000 } })
    await using client = await connect(tasks.server)
    const start = performance.now()
    const failure = await settled(client.callTool('slow')).catch((reason: unknown) => reason)
    expect(failure).toMatchObject({ name: 'TaskError', reason: 'expired', taskId: 'task-1' })
    expect(String(failure)).toContain('10000 ms')
    expect(performance.now() - start).toBeLessThanOrEqual(11_000)
  })

  it('of the server can be extended', async () => {
    const tasks = taskServer({ state: { ttlMs: 10_000 } })
    await using client = await connect(tasks.server)
    const called = client.callTool('slow')
    await wait(5_000)
    tasks.task.set({ ttlMs: 120_000 })
    await wait(30_000)
    tasks.task.complete()
    expect(await settled(called)).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('of the server that have passed explain why the task is unknown', async () => {
    const tasks = taskServer({ state: { ttlMs: 3_000, pollIntervalMs: 2_900 } })
    await using client = await connect(tasks.server)
    const called = client.callTool('slow')
    called.catch(() => {})
    await wait(2_950)
    tasks.tasks.clear()
    await wait(200)
    await expect(called).rejects.toMatchObject({ name: 'TaskError', reason: 'expired' })
  })
})

describe('cancellation', () => {
  it('sends tasks/cancel and not notifications/cancelled', async () => {
    const tasks = taskServer()
    await using client = await connect(tasks.server)
    const controller = new AbortController()
    const called = client.callTool('slow', {}, { signal: controller.signal })
    called.catch(() => {})
    await wait(3_000)
    controller.abort(new Error('enough'))
    await expect(called).rejects.toMatchObject({ reason: 'cancelled', cause: { message: 'enough' } })
    await wait(10)
    expect(tasks.task.state.status).toBe('cancelled')
    expect(tasks.methods.filter((method) => method !== 'tasks/get')).toEqual(['tasks/cancel'])
    await wait(100_000)
    expect(tasks.methods.at(-1)).toBe('tasks/cancel')
  })

  it('during a poll sends it as well', async () => {
    const tasks = taskServer({ answers: { 'tasks/get': () => new Promise(() => {}) } })
    await using client = await connect(tasks.server)
    const controller = new AbortController()
    const called = client.callTool('slow', {}, { signal: controller.signal })
    called.catch(() => {})
    await wait(2_000)
    controller.abort()
    await expect(called).rejects.toMatchObject({ reason: 'cancelled' })
    await wait(10)
    expect(tasks.methods).toEqual(['tasks/get', 'tasks/cancel'])
  })

  it('before the task exists cancels the request', async () => {
    let signal: AbortSignal | undefined
    const tasks = taskServer({
      answers: {
        'tools/call': ({ exchange }) => {
          signal = exchange.signal
          return new Promise(() => {})
        },
      },
    })
    await using client = await connect(tasks.server)
    const controller = new AbortController()
    const called = client.callTool('slow', {}, { signal: controller.signal })
    called.catch(() => {})
    await wait(10)
    controller.abort()
    await expect(called).rejects.toMatchObject({ reason: 'cancelled' })
    await wait(10)
    expect(signal?.aborted).toBe(true)
    expect(tasks.methods).toEqual([])
  })

  it('closes input requests that are open', async () => {
    const tasks = taskServer({ run: (task) => task.ask({ a: form() }) })
    let signal: AbortSignal | undefined
    await using client = await connect(tasks.server, {
      onElicit: (ask) => {
        signal = ask.signal
        return new Promise(() => {})
      },
    })
    const controller = new AbortController()
    const called = client.callTool('slow', {}, { signal: controller.signal })
    called.catch(() => {})
    await wait(3_000)
    expect(signal?.aborted).toBe(false)
    controller.abort()
    await wait(0)
    expect(signal?.aborted).toBe(true)
    expect(tasks.task.state.status).toBe('cancelled')
  })

  it('of a closed client leaves the task alone', async () => {
    const tasks = taskServer()
    const client = await connect(tasks.server)
    const called = client.callTool('slow')
    called.catch(() => {})
    await wait(3_000)
    await client.close()
    await expect(called).rejects.toMatchObject({ reason: 'closed' })
    await wait(10_000)
    expect(tasks.task.state.status).toBe('working')
  })
})

describe('input requests of a task', () => {
  it('are answered by the callbacks of the client, each key once, as the answers come', async () => {
    const tasks = taskServer({
      run: (task) => task.ask({ slow: form('slow'), fast: form('fast'), roots: { method: 'roots/list' } }),
    })
    const asked: string[] = []
    await using client = await connect(tasks.server, {
      roots: [{ uri: 'file:///a' }],
      onElicit: async (ask) => {
        asked.push(ask.message)
        await new Promise((resolve) => void setTimeout(resolve, ask.message === 'slow' ? 10_000 : 100))
        return { action: 'accept', content: { ok: true } }
      },
    })
    const called = client.callTool('slow')
    await wait(3_000)
    expect(tasks.task.responses.map(([key]) => key).sort()).toEqual(['fast', 'roots'])
    await wait(20_000)
    expect(tasks.task.responses).toContainEqual(['slow', { action: 'accept', content: { ok: true } }])
    expect(tasks.task.responses).toContainEqual(['roots', { roots: [{ uri: 'file:///a' }] }])
    expect(asked).toEqual(['slow', 'fast'])
    tasks.task.complete()
    await settled(called)
  })

  it('are not answered again while the server still shows them', async () => {
    const tasks = taskServer({ answers: { 'tasks/update': () => ({}) }, run: (task) => task.ask({ a: form() }) })
    let asked = 0
    await using client = await connect(tasks.server, {
      onElicit: () => {
        asked += 1
        return { action: 'decline' }
      },
    })
    const called = client.callTool('slow')
    await wait(30_000)
    expect(asked).toBe(1)
    expect(tasks.methods.filter((method) => method === 'tasks/update')).toHaveLength(1)
    tasks.task.complete()
    await settled(called)
  })

  it('are answered by the onInputRequest of the call, also in the first phase of the call', async () => {
    let calls = 0
    const tasks = taskServer({
      answers: {
        'tools/call': ({ params }) => {
          calls += 1
          if (params.inputResponses === undefined) {
            return { resultType: 'input_required', inputRequests: { a: form('first') }, requestState: 's' }
          }
          return { resultType: 'task', taskId: 't', status: 'working', createdAt: '', lastUpdatedAt: '', ttlMs: null }
        },
        'tasks/get': () => ({
          ...state,
          ...(responses.length === 0
            ? { status: 'input_required', inputRequests: { a: form('second') } }
            : { status: 'completed', result: { content: [] } }),
        }),
        'tasks/update': ({ params }) => {
          responses.push(params.inputResponses)
          return {}
        },
      },
    })
    const state = { taskId: 't', createdAt: '', lastUpdatedAt: '', ttlMs: null }
    const responses: unknown[] = []
    await using client = await connect(tasks.server)
    const asked: unknown[] = []
    const called = client.callTool(
      'slow',
      {},
      {
        onInputRequest: (request) => {
          asked.push(request.params)
          return { action: 'decline' }
        },
      },
    )
    expect(await settled(called)).toEqual({ content: [] })
    expect(calls).toBe(2)
    expect(asked).toMatchObject([{ message: 'first' }, { message: 'second' }])
    expect(responses).toEqual([{ a: { action: 'decline' } }])
  })

  it('that are withdrawn are closed', async () => {
    const tasks = taskServer({ run: (task) => task.ask({ a: form() }) })
    let signal: AbortSignal | undefined
    await using client = await connect(tasks.server, {
      onElicit: (ask) => {
        signal = ask.signal
        return new Promise(() => {})
      },
    })
    const called = client.callTool('slow')
    await wait(3_000)
    tasks.task.answer({ a: { action: 'decline' } })
    await wait(15_000)
    expect(signal?.aborted).toBe(true)
    tasks.task.complete()
    await settled(called)
    expect(tasks.methods).not.toContain('tasks/update')
  })

  it('that the client did not declare end the call and cancel the task', async () => {
    const tasks = taskServer({ run: (task) => task.ask({ a: form() }) })
    await using client = await connect(tasks.server)
    const failure = await settled(client.callTool('slow')).catch((reason: unknown) => reason)
    expect(failure).toMatchObject({ reason: 'invalid-message', hint: 'Pass onElicit to connect.' })
    expect(tasks.methods.at(-1)).toBe('tasks/cancel')
  })

  it('whose callback throws end the call and cancel the task', async () => {
    const tasks = taskServer({ run: (task) => task.ask({ a: form() }) })
    const cause = new Error('broken')
    await using client = await connect(tasks.server, { onElicit: () => Promise.reject(cause) })
    const failure = await settled(client.callTool('slow')).catch((reason: unknown) => reason)
    expect(failure).toMatchObject({ reason: 'cancelled', cause })
    expect(tasks.methods.at(-1)).toBe('tasks/cancel')
  })

  it('are sent again when an update fails for a reason that passes', async () => {
    let failures = 2
    const tasks = taskServer({
      answers: {
        'tasks/update': ({ params }) => {
          if (failures-- > 0) throw new RpcError(-32_603, 'The store is away')
          tasks.task.answer(params.inputResponses as JsonObject)
          return {}
        },
      },
      run: (task) => task.ask({ a: form() }),
    })
    await using client = await connect(tasks.server, { onElicit: () => ({ action: 'decline' }) })
    const called = client.callTool('slow')
    await wait(10_000)
    expect(tasks.task.responses).toEqual([['a', { action: 'decline' }]])
    tasks.task.complete()
    await settled(called)
  })
})

describe('a server that sends the states of tasks', () => {
  it('is not polled, and ends the call at once', async () => {
    const tasks = taskServer({ announces: true, state: { ttlMs: null } })
    await using client = await connect(tasks.server)
    const called = client.callTool('slow')
    await wait(29_000)
    expect(tasks.methods).toEqual(['tasks/get'])
    expect(tasks.server.asked('subscriptions/listen')[0]?.params?.notifications).toEqual({ taskIds: ['task-1'] })
    tasks.task.complete()
    await wait(1)
    expect(await called).toMatchObject({ content: [{ text: 'done' }] })
    expect(tasks.methods).toEqual(['tasks/get'])
    await wait(10)
    expect(tasks.streams.size).toBe(0)
  })

  it('may miss one: the task is still polled', async () => {
    const tasks = taskServer({ announces: true, state: { ttlMs: null } })
    await using client = await connect(tasks.server)
    const called = client.callTool('slow')
    await wait(10_000)
    tasks.task.onChange = undefined
    tasks.task.complete()
    await wait(31_000)
    expect(await called).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('may have missed one before it was listened to', async () => {
    const tasks = taskServer({ announces: true, state: { ttlMs: null } })
    await using client = await connect(tasks.server)
    const called = client.callTool('slow')
    await wait(500)
    tasks.task.onChange = undefined
    tasks.task.complete()
    await wait(600)
    expect(await called).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('may have missed one between a poll and its confirmation', async () => {
    const tasks = taskServer({
      announces: true,
      state: { ttlMs: null },
      answers: {
        'tasks/get': async () => {
          const { state } = tasks.task
          await new Promise((resolve) => void setTimeout(resolve, 500))
          return state
        },
        'subscriptions/listen': async ({ message, exchange }) => {
          await new Promise((resolve) => void setTimeout(resolve, 1_200))
          const _meta = { [`${META}subscriptionId`]: message.id }
          const params = { notifications: { taskIds: ['task-1'] }, _meta }
          void exchange.notify('notifications/subscriptions/acknowledged', params)
          return new Promise(() => {})
        },
      },
    })
    await using client = await connect(tasks.server)
    const called = client.callTool('slow')
    await wait(1_100)
    tasks.task.complete()
    await wait(5_000)
    expect(await called).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('may send input requests that way', async () => {
    const tasks = taskServer({ announces: true, state: { ttlMs: null } })
    await using client = await connect(tasks.server, { onElicit: () => ({ action: 'decline' }) })
    const called = client.callTool('slow')
    await wait(2_000)
    tasks.task.ask({ a: form() })
    await wait(1)
    expect(tasks.task.responses).toEqual([['a', { action: 'decline' }]])
    tasks.task.complete()
    await wait(1)
    await called
  })

  it('is listened to for four tasks at a time', async () => {
    const tasks = taskServer({ announces: true, state: { ttlMs: null } })
    await using client = await connect(tasks.server)
    const calls = Array.from({ length: 10 }, () => client.callTool('slow'))
    await wait(3_000)
    expect(tasks.streams.size).toBe(4)
    for (const task of tasks.tasks.values()) task.complete(task.id)
    const results = await settled(Promise.all(calls))
    expect(results.map(({ content }) => content)).toEqual(
      [...tasks.tasks.keys()].map((id) => [{ type: 'text', text: id }]),
    )
    await wait(10)
    expect(tasks.streams.size).toBe(0)
    const last = client.callTool('slow')
    await wait(10)
    expect(tasks.streams.size).toBe(1)
    tasks.task.complete()
    await settled(last)
  })

  it('is no cause of warnings if it does not', async () => {
    const tasks = taskServer()
    const onWarning = vi.fn()
    await using client = await connect(tasks.server, { onWarning })
    const called = client.callTool('slow')
    await wait(100)
    expect(tasks.streams.size).toBe(0)
    expect(tasks.server.asked('subscriptions/listen')).toHaveLength(1)
    tasks.task.complete()
    await settled(called)
    expect(onWarning.mock.calls).toEqual([])
  })
})

describe('a hostile server', () => {
  const created = { taskId: 't', status: 'working', createdAt: '', lastUpdatedAt: '', ttlMs: null }

  it.each([
    [
      'an id of 1 MB',
      { taskId: 'x'.repeat(1_000_000) },
      'result.taskId: expected at most 1024 characters, got 1000000',
    ],
    ['a negative ttl', { ttlMs: -1 }, 'result.ttlMs: expected a positive integer or null'],
    ['no ttl', { ttlMs: undefined }, 'result.ttlMs: expected a positive integer or null'],
    ['an unknown status', { status: 'asleep' }, 'result.status: expected one of "working"'],
    ['the nested task of another revision', { task: created, taskId: undefined }, 'result.taskId: expected string'],
  ])('that creates a task with %s is refused', async (_, members, message) => {
    const tasks = taskServer({ answers: { 'tools/call': () => ({ resultType: 'task', ...created, ...members }) } })
    await using client = await connect(tasks.server)
    const failure = await client.callTool('slow').catch((reason: Error) => reason)
    expect(failure).toMatchObject({ reason: 'invalid-message' })
    expect(String(failure)).toContain(message)
    expect(String(failure).length).toBeLessThan(500)
    expect(tasks.methods).toEqual([])
  })

  it.each([
    ['an invalid state', { status: 'completed' }, 'result.result: expected object, got nothing'],
    ['the state of another task', { taskId: 'other' }, 'expected the id of the task, got another one'],
  ])('that answers a poll with %s ends the call, which cancels the task', async (_, members, message) => {
    const tasks = taskServer({ answers: { 'tasks/get': () => ({ ...tasks.task.state, ...members }) } })
    await using client = await connect(tasks.server)
    await expect(settled(client.callTool('slow'))).rejects.toThrow(message)
    expect(tasks.methods.at(-1)).toBe('tasks/cancel')
  })

  it('that sends invalid states by itself causes warnings only', async () => {
    const tasks = taskServer({ announces: true })
    const onWarning = vi.fn()
    await using client = await connect(tasks.server, { onWarning })
    const called = client.callTool('slow')
    await wait(2_000)
    tasks.task.set({ status: 'asleep' })
    await wait(10)
    expect(String(onWarning.mock.calls[0]?.[0])).toContain(
      'notifications/tasks was ignored. params.status: expected one of',
    )
    tasks.task.complete()
    await settled(called)
  })

  it('that changes a final state is not believed', async () => {
    const tasks = taskServer()
    await using client = await connect(tasks.server)
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    tasks.task.complete('first')
    expect(await settled(handle.result())).toMatchObject({ content: [{ text: 'first' }] })
    tasks.task.set({ status: 'working' })
    expect(await handle.status()).toMatchObject({ status: 'completed' })
    tasks.task.complete('second')
    expect(await handle.result()).toMatchObject({ content: [{ text: 'first' }] })
  })

  it('whose states go back and forth is followed', async () => {
    const tasks = taskServer({ state: { ttlMs: null } })
    await using client = await connect(tasks.server, { onElicit: () => ({ action: 'decline' }) })
    const called = client.callTool('slow')
    for (let round = 0; round < 5; round++) {
      tasks.task?.set({ status: 'working', lastUpdatedAt: '2020-01-01T00:00:00Z' })
      await wait(2_000)
      tasks.task.ask({ [`key${round}`]: form() })
      await wait(15_000)
    }
    expect(tasks.task.responses).toHaveLength(5)
    tasks.task.complete()
    await settled(called)
  })

  it('that asks 10,000 questions at once is refused before the user sees one', async () => {
    const questions = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, form()]))
    const tasks = taskServer({ run: (task) => task.ask(questions) })
    const onElicit = vi.fn()
    await using client = await connect(tasks.server, { onElicit })
    await expect(settled(client.callTool('slow'))).rejects.toMatchObject({
      reason: 'limit',
      message: 'tools/call "slow": expected at most 100 input requests, got 10000',
    })
    expect(onElicit).not.toHaveBeenCalled()
    expect(tasks.methods.at(-1)).toBe('tasks/cancel')
  })

  it('that asks one question after the other is stopped', async () => {
    let count = 0
    const ask = (task: ServerTask) => task.ask({ [`k${count++}`]: form() })
    const tasks = taskServer({
      state: { ttlMs: null, pollIntervalMs: 100 },
      run: ask,
      answers: {
        'tasks/update': () => {
          ask(tasks.task)
          return {}
        },
      },
    })
    await using client = await connect(tasks.server, { maxInputRequests: 3, onElicit: () => ({ action: 'decline' }) })
    await expect(settled(client.callTool('slow'))).rejects.toMatchObject({ reason: 'limit' })
    expect(count).toBe(31)
  })

  it('that forgets a task ends the call with a named error', async () => {
    const tasks = taskServer()
    await using client = await connect(tasks.server)
    const called = client.callTool('slow')
    called.catch(() => {})
    await wait(1_500)
    tasks.tasks.clear()
    const failure = await settled(called).catch((reason: unknown) => reason)
    expect(failure).toMatchObject({ name: 'TaskError', reason: 'unknown', taskId: 'task-1' })
    expect(tasks.methods).not.toContain('tasks/cancel')
  })

  it.each([-32_000, -32_602])('that refuses an update with %i ends the call', async (code) => {
    const tasks = taskServer({
      answers: { 'tasks/update': () => Promise.reject(new RpcError(code, 'No updates today')) },
      run: (task) => task.ask({ a: form() }),
    })
    await using client = await connect(tasks.server, { onElicit: () => ({ action: 'decline' }) })
    await expect(settled(client.callTool('slow'))).rejects.toMatchObject({ code, message: 'No updates today' })
    expect(tasks.methods.at(-1)).toBe('tasks/cancel')
  })

  it('that never ends a task is cancelled after maxTimeout, 10 minutes by default', async () => {
    const tasks = taskServer({ state: { ttlMs: null } })
    await using client = await connect(tasks.server)
    const start = performance.now()
    await expect(settled(client.callTool('slow'))).rejects.toMatchObject({
      reason: 'timeout',
      hint: "Pass a longer maxTimeout, or wait for the result of the handle that { task: 'handle' } returns.",
    })
    expect(Math.round((performance.now() - start) / 10_000)).toBe(60)
  })

  it('that refuses to cancel does not matter', async () => {
    const tasks = taskServer({ answers: { 'tasks/cancel': () => Promise.reject(invalidParams('no')) } })
    await using client = await connect(tasks.server)
    await expect(settled(client.callTool('slow', {}, { maxTimeout: 3_000 }))).rejects.toMatchObject({
      reason: 'timeout',
    })
  })
})
