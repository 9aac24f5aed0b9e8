import { type InputRequest, invalidParams, type JsonObject, type Revision, RpcError } from '@mcpx/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Answers, connectorTo, scriptedServer } from '../test/scripted-server.ts'
import { form } from '../test/task-server.ts'
import { connect, type Task } from './index.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function wait(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

const RELATED_TASK = 'io.modelcontextprotocol/related-task'
const tools = [
  { name: 'long', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } },
  { name: 'maybe', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } },
  { name: 'short', inputSchema: { type: 'object' } },
]

/** A server of 2025-11-25 with one task. */
function legacyTasks({
  answers = {},
  ...options
}: {
  answers?: Answers
  capabilities?: JsonObject
  revision?: Revision
} = {}) {
  const now = new Date().toISOString()
  const task: JsonObject = {
    taskId: 't1',
    status: 'working',
    createdAt: now,
    lastUpdatedAt: now,
    ttl: null,
    pollInterval: 500,
  }
  const question: { request?: InputRequest | undefined; response?: unknown } = {}
  let outcome: JsonObject | RpcError = { content: [] }
  let wake: (() => void) | undefined
  const capabilities = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }

  const server = scriptedServer(options.revision ?? '2025-11-25', {
    capabilities: options.capabilities ?? capabilities,
    answers: {
      'tools/list': () => ({ tools }),
      'tools/call': ({ params }) =>
        params.task === undefined ? { content: [{ type: 'text', text: 'plain' }] } : { task },
      'tasks/get': ({ params }) => {
        if (params.taskId !== 't1') throw invalidParams('No such task')
        return task
      },
      'tasks/cancel': () => {
        if (task.status === 'completed') throw invalidParams('It has ended')
        task.status = 'cancelled'
        return task
      },
      'tasks/result': async () => {
        if (question.request !== undefined) {
          const { method, params } = question.request
          const _meta = { [RELATED_TASK]: { taskId: 't1' } }
          question.response = await connector.server.request(method, { ...params, _meta })
          question.request = undefined
        }
        const ended = new Promise<void>((resolve) => {
          wake = resolve
        })
        if (task.status !== 'completed' && task.status !== 'failed') await ended
        if (outcome instanceof RpcError) throw outcome
        return { ...outcome, _meta: { [RELATED_TASK]: { taskId: 't1' } } }
      },
      ...answers,
    },
  })
  const connector = connectorTo(() => server)
  const end = (status: string, result: JsonObject | RpcError) => {
    task.status = status
    outcome = result
    wake?.()
  }
  const methods = () => server.heard.map(({ method }) => method).filter((method) => /^t|cancelled/.test(method))
  return { server, connector, task, question, end, methods }
}

const done = { content: [{ type: 'text', text: 'done' }] }

describe('a tool of 2025-11-25 that requires a task', () => {
  it('is called with a task, polled, and its result is returned', async () => {
    const { server, end, methods, task } = legacyTasks()
    const states: Task[] = []
    await using client = await connect(server, { maxTimeout: 60_000 })
    const called = client.callTool('long', { a: 1 }, { onStatus: (state) => void states.push(state) })
    await wait(1_200)
    task.statusMessage = 'half'
    await wait(500)
    end('completed', done)
    await wait(500)
    expect(await called).toMatchObject(done)
    expect(methods()).toEqual(['tools/list', 'tools/call', ...Array(4).fill('tasks/get'), 'tasks/result'])
    expect(server.asked('tools/call')[0]?.params).toMatchObject({
      name: 'long',
      arguments: { a: 1 },
      task: { ttl: 60_000 },
    })
    expect(
      states.map(({ status, statusMessage, ttlMs, pollIntervalMs }) => [status, statusMessage, ttlMs, pollIntervalMs]),
    ).toEqual([
      ['working', undefined, null, 500],
      ['working', 'half', null, 500],
      ['completed', 'half', null, 500],
    ])
  })

  it('returns the result of a failure, and rejects with an error of the protocol', async () => {
    const { server, end } = legacyTasks()
    await using client = await connect(server)
    const called = client.callTool('long')
    await wait(10)
    end('failed', { ...done, isError: true })
    await wait(1_000)
    expect(await called).toMatchObject({ isError: true })
    end('failed', new RpcError(-32_050, 'Out of paper'))
    const again = client.callTool('long')
    again.catch(() => {})
    await wait(1_000)
    await expect(again).rejects.toMatchObject({ code: -32_050, message: 'Out of paper' })
  })

  it('rejects with a named error when it was cancelled', async () => {
    const { server, task, methods } = legacyTasks()
    await using client = await connect(server)
    const called = client.callTool('long')
    called.catch(() => {})
    task.status = 'cancelled'
    await wait(1_000)
    await expect(called).rejects.toMatchObject({ name: 'TaskError', reason: 'cancelled' })
    expect(methods()).not.toContain('tasks/result')
  })

  it('asks the user on the stream of tasks/result', async () => {
    const { connector, task, question, end, methods } = legacyTasks()
    const onElicit = vi.fn(() => ({ action: 'accept', content: { ok: true } }) as const)
    await using client = await connect(connector, { onElicit })
    const called = client.callTool('long')
    question.request = form('Which?')
    task.status = 'input_required'
    await wait(3_000)
    const _meta = { [RELATED_TASK]: { taskId: 't1' } }
    expect(question.response).toEqual({ action: 'accept', content: { ok: true }, _meta })
    expect(onElicit).toHaveBeenCalledTimes(1)
    task.status = 'working'
    await wait(2_000)
    end('completed', done)
    await wait(10)
    expect(await called).toMatchObject(done)
    expect(methods().filter((method) => method === 'tasks/result')).toHaveLength(1)
  })

  it('is cancelled by tasks/cancel', async () => {
    const { server, task, methods } = legacyTasks()
    await using client = await connect(server)
    const controller = new AbortController()
    const called = client.callTool('long', {}, { signal: controller.signal })
    called.catch(() => {})
    await wait(600)
    controller.abort()
    await expect(called).rejects.toMatchObject({ reason: 'cancelled' })
    await wait(10)
    expect(task.status).toBe('cancelled')
    expect(methods().slice(-2)).toEqual(['tasks/get', 'tasks/cancel'])
  })

  it('is called with a task by client.request, too', async () => {
    const { server, end } = legacyTasks()
    await using client = await connect(server)
    const called = client.request('tools/call', { name: 'long' })
    await wait(10)
    end('completed', done)
    await wait(1_000)
    expect(await called).toMatchObject(done)
  })

  it('returns the task as it is to a caller that asks for one itself', async () => {
    const { server } = legacyTasks()
    await using client = await connect(server)
    const params = { name: 'long', task: { ttl: 5 } } as JsonObject
    expect(await client.request('tools/call' as string, params)).toMatchObject({ task: { taskId: 't1' } })
    expect(server.asked('tools/list')).toEqual([])
  })

  it('has a handle', async () => {
    const { server, end, methods } = legacyTasks()
    await using client = await connect(server)
    const handle = await client.callTool('long', {}, { task: 'handle' })
    expect(handle.id).toBe('t1')
    expect(server.asked('tools/call')[0]?.params?.task).toEqual({})
    expect(await handle.status()).toMatchObject({ status: 'working', ttlMs: null })
    end('completed', done)
    expect(await client.task('t1').result()).toMatchObject(done)
    await handle.cancel()
    expect(methods().slice(-2)).toEqual(['tasks/cancel', 'tasks/get'])
    await expect(client.task('t2').cancel()).rejects.toBeInstanceOf(Error)
    await expect(client.task('t2').status()).rejects.toMatchObject({ name: 'TaskError', reason: 'unknown' })
  })
})

describe('other tools of 2025-11-25', () => {
  it('run as tasks only if a handle is wanted', async () => {
    const { server } = legacyTasks()
    await using client = await connect(server)
    expect(await client.callTool('maybe')).toMatchObject({ content: [{ text: 'plain' }] })
    expect((await client.callTool('maybe', {}, { task: 'handle' })).id).toBe('t1')
    expect((await client.callTool('short', {}, { task: 'handle' })).id).toBe('')
    expect(server.asked('tools/call').map(({ params }) => params?.task)).toEqual([undefined, {}, undefined])
    expect(server.asked('tools/list')).toHaveLength(1)
  })

  it.each([
    ['the server has no tasks', { capabilities: { tools: {} } }, {}],
    ['`tasks` is false', {}, { tasks: false }],
    ['the list fails', { answers: { 'tools/list': () => Promise.reject(new RpcError(-32_603, 'no')) } }, {}],
  ])('are called as ever when %s', async (_, script, options) => {
    const { server } = legacyTasks(script)
    await using client = await connect(server, options)
    expect(await client.callTool('long')).toMatchObject({ content: [{ text: 'plain' }] })
  })

  it('cannot return the task of another revision', async () => {
    const created = {
      resultType: 'task',
      taskId: 'x',
      status: 'working',
      createdAt: '',
      lastUpdatedAt: '',
      ttlMs: null,
    }
    const { server, methods } = legacyTasks({ answers: { 'tools/call': () => ({ ...created, content: [] }) } })
    await using client = await connect(server)
    expect(await client.callTool('short')).not.toHaveProperty('resultType')
    expect(methods()).toEqual(['tools/list', 'tools/call'])
  })
})
