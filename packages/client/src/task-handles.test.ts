import { type JsonObject, RpcError } from '@mcpx/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connectorTo } from '../test/scripted-server.ts'
import { form, taskServer } from '../test/task-server.ts'
import { connect } from './index.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function wait(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

describe('the handle of a task', () => {
  it('is returned at once, and has the id, the state and the result', async () => {
    const tasks = taskServer({ state: { statusMessage: 'queued', pollIntervalMs: 500 } })
    await using client = await connect(tasks.server)
    const handle = await client.callTool('slow', { a: 1 }, { task: 'handle' })
    expect(handle.id).toBe('task-1')
    expect(tasks.methods).toEqual([])
    expect(await handle.status()).toMatchObject({ status: 'working', statusMessage: 'queued' })
    const result = handle.result()
    await wait(1_000)
    tasks.task.complete()
    await wait(1_000)
    expect(await result).toMatchObject({ content: [{ text: 'done' }] })
    expect(await handle.status()).toMatchObject({ status: 'completed' })
    const polls = tasks.methods.length
    expect(await handle.result()).toMatchObject({ content: [{ text: 'done' }] })
    expect(tasks.methods).toHaveLength(polls)
    await handle.cancel()
    expect(tasks.methods).toHaveLength(polls)
  })

  it('is returned as well when the server answers at once', async () => {
    const tasks = taskServer({ answers: { 'tools/call': () => ({ content: [{ type: 'text', text: 'quick' }] }) } })
    await using client = await connect(tasks.server)
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    expect(handle.id).toBe('')
    expect(await handle.status()).toMatchObject({ status: 'completed', ttlMs: null })
    expect(await handle.result()).toMatchObject({ content: [{ type: 'text', text: 'quick' }] })
    await handle.cancel()
    expect(tasks.methods).toEqual([])
  })

  it('waits longer than maxTimeout of the client, and for as long as its own', async () => {
    const tasks = taskServer({ state: { ttlMs: null, pollIntervalMs: 60_000 } })
    await using client = await connect(tasks.server, { maxTimeout: 1_000 })
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    const short = handle.result({ maxTimeout: 90_000 })
    short.catch(() => {})
    const long = handle.result()
    await wait(3_600_000)
    await expect(short).rejects.toMatchObject({ reason: 'timeout' })
    expect(tasks.task.state.status).toBe('working')
    tasks.task.complete()
    await wait(60_000)
    expect(await long).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('stops waiting when the signal of result fires, without cancelling the task', async () => {
    const tasks = taskServer()
    await using client = await connect(tasks.server)
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    const controller = new AbortController()
    const result = handle.result({ signal: controller.signal })
    result.catch(() => {})
    await wait(2_000)
    controller.abort()
    await expect(result).rejects.toMatchObject({ reason: 'cancelled' })
    await wait(10)
    expect(tasks.task.state.status).toBe('working')
  })

  it('leaves nothing open when the signal of result has fired already', async () => {
    const tasks = taskServer({ announces: true })
    await using client = await connect(tasks.server)
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    for (let round = 0; round < 6; round++) {
      await expect(handle.result({ signal: AbortSignal.abort() })).rejects.toMatchObject({ reason: 'cancelled' })
    }
    await wait(10)
    expect(tasks.server.asked('subscriptions/listen')).toHaveLength(0)
    const result = handle.result()
    await wait(10)
    expect(tasks.streams.size).toBe(1)
    tasks.task.complete()
    await wait(10)
    await result
  })

  it('asks again after an answer that could not be sent', async () => {
    let isBroken = true
    const tasks = taskServer({
      run: (task) => task.ask({ a: form() }),
      answers: {
        'tasks/update': ({ params }) => {
          if (isBroken) throw new RpcError(-32_000, 'Not now')
          tasks.task.answer(params.inputResponses as JsonObject)
          return {}
        },
      },
    })
    await using client = await connect(tasks.server, { onElicit: () => ({ action: 'decline' }) })
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    const failed = handle.result()
    failed.catch(() => {})
    await wait(3_000)
    await expect(failed).rejects.toMatchObject({ code: -32_000 })
    isBroken = false
    const result = handle.result()
    await wait(3_000)
    expect(tasks.task.responses).toEqual([['a', { action: 'decline' }]])
    tasks.task.complete()
    await wait(3_000)
    await result
  })

  it('does not depend on the signal of its call', async () => {
    const tasks = taskServer()
    await using client = await connect(tasks.server)
    const controller = new AbortController()
    const handle = await client.callTool('slow', {}, { task: 'handle', signal: controller.signal, timeout: 5_000 })
    controller.abort()
    const result = handle.result()
    tasks.task.complete()
    await wait(2_000)
    expect(await result).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('cancels', async () => {
    const tasks = taskServer()
    await using client = await connect(tasks.server)
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    const result = handle.result()
    result.catch(() => {})
    await handle.cancel()
    expect(tasks.methods).toEqual(['tasks/cancel'])
    await wait(2_000)
    await expect(result).rejects.toMatchObject({ name: 'TaskError', reason: 'cancelled' })
  })

  it('calls listeners with new states, until they are removed', async () => {
    const tasks = taskServer({ state: { statusMessage: 'queued' } })
    const onStatus = vi.fn()
    const onWarning = vi.fn()
    await using client = await connect(tasks.server, { onWarning })
    const handle = await client.callTool('slow', {}, { task: 'handle', onStatus })
    const seen: unknown[] = []
    const remove = handle.onStatus(({ statusMessage }) => void seen.push(statusMessage))
    handle.onStatus(() => {
      throw new Error('listener')
    })
    await handle.status()
    tasks.task.set({ statusMessage: 'half' })
    await handle.status()
    expect(seen).toEqual(['half'])
    remove()
    tasks.task.set({ statusMessage: 'most' })
    await handle.status()
    expect(seen).toEqual(['half'])
    expect(onStatus.mock.calls.map(([{ statusMessage }]) => statusMessage)).toEqual(['queued', 'half', 'most'])
    expect(String(onWarning.mock.calls[0]?.[0])).toContain('listener')
  })

  it('keeps a final state when an older one arrives later', async () => {
    let isSlow = false
    const tasks = taskServer({
      answers: {
        'tasks/get': async () => {
          const { state } = tasks.task
          if (isSlow) await new Promise((resolve) => void setTimeout(resolve, 5_000))
          return state
        },
      },
    })
    await using client = await connect(tasks.server)
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    isSlow = true
    const late = handle.status()
    await wait(1)
    isSlow = false
    tasks.task.complete()
    const result = handle.result()
    await wait(2_000)
    await result
    await wait(5_000)
    expect(await late).toMatchObject({ status: 'completed' })
    expect(await handle.status()).toMatchObject({ status: 'completed' })
  })

  it('answers input requests once, also when two callers wait for the result', async () => {
    const tasks = taskServer({ run: (task) => task.ask({ a: form() }) })
    const onElicit = vi.fn(() => ({ action: 'decline' }) as const)
    await using client = await connect(tasks.server, { onElicit })
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    const results = [handle.result(), handle.result()]
    await wait(3_000)
    expect(onElicit).toHaveBeenCalledTimes(1)
    expect(tasks.methods.filter((method) => method === 'tasks/update')).toHaveLength(1)
    tasks.task.complete()
    await wait(3_000)
    await Promise.all(results)
  })
})

describe('client.task', () => {
  it('returns to a task after a restart', async () => {
    const tasks = taskServer()
    const first = await connect(tasks.server)
    const { id } = await first.callTool('slow', {}, { task: 'handle' })
    await first.close()
    tasks.task.ask({ a: form() })
    await using second = await connect(tasks.server, { onElicit: () => ({ action: 'decline' }) })
    const result = second.task(id).result()
    await wait(100)
    expect(tasks.task.responses).toEqual([['a', { action: 'decline' }]])
    tasks.task.complete()
    await wait(2_000)
    expect(await result).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('checks the output of the named tool', async () => {
    const outputSchema = { type: 'object', required: ['n'] }
    const tasks = taskServer({
      run: (task) => task.complete('', { structuredContent: {} }),
      answers: { 'tools/list': () => ({ tools: [{ name: 'slow', inputSchema: { type: 'object' }, outputSchema }] }) },
    })
    await using client = await connect(tasks.server)
    await client.listTools().all()
    const { id } = await client.callTool('slow', {}, { task: 'handle' })
    expect(await client.task(id).result()).toMatchObject({ structuredContent: {} })
    await expect(client.task(id, { tool: 'slow' }).result()).rejects.toThrow('The output of tool "slow" was refused')
  })

  it('rejects with a named error for an unknown id', async () => {
    const tasks = taskServer()
    await using client = await connect(tasks.server)
    const unknown = { name: 'TaskError', reason: 'unknown', taskId: 'nope', message: expect.stringContaining('"nope"') }
    await expect(client.task('nope').status()).rejects.toMatchObject(unknown)
    await expect(client.task('nope').result()).rejects.toMatchObject(unknown)
    await expect(client.task('nope').cancel()).rejects.toMatchObject(unknown)
  })

  it('is refused without an id, and with unknown options', async () => {
    const tasks = taskServer()
    await using client = await connect(tasks.server)
    expect(() => client.task('')).toThrow('task(id): expected the id of a task, got an empty string')
    expect(() => client.task(3 as never)).toThrow('task(id): expected the id of a task, got number')
    expect(() => client.task('a', { tol: 'x' } as never)).toThrow(
      'task: there is no option "tol"; did you mean "tool"?',
    )
    await expect(client.task('a').result({ timeuot: 1 } as never)).rejects.toThrow('did you mean "timeout"?')
    await expect(client.callTool('slow', {}, { task: 'later' } as never)).rejects.toThrow(
      'callTool: task: expected "handle", got "later"',
    )
  })

  it('continues over a new connection', async () => {
    const tasks = taskServer()
    const connector = connectorTo(() => tasks.server)
    await using client = await connect(connector)
    const handle = await client.callTool('slow', {}, { task: 'handle' })
    await connector.server.close()
    tasks.task.complete()
    const result = handle.result()
    await wait(3_000)
    expect(await result).toMatchObject({ content: [{ text: 'done' }] })
  })
})
