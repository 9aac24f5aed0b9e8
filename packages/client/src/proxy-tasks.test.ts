import type { Context, InputRequest, JsonObject } from '@mcpx/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { META, scriptedServer } from '../test/scripted-server.ts'
import { form, TASKS_ID, taskServer } from '../test/task-server.ts'
import { connect, proxy } from './index.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function wait(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

function contextOf(extra: Partial<Context> = {}) {
  const progress: unknown[][] = []
  const ctx = {
    signal: new AbortController().signal,
    client: { info: undefined, capabilities: {} },
    meta: { progressToken: 1 },
    progress: (...all: unknown[]) => void progress.push(all),
    step: (_key: string, run: () => unknown) => run(),
    log: {},
    ...extra,
  } as unknown as Context
  return { ctx, progress }
}

function declaredBy(message: { readonly params?: JsonObject | undefined } | undefined): unknown {
  const meta = message?.params?._meta as JsonObject | undefined
  return (meta?.[`${META}clientCapabilities`] as JsonObject | undefined)?.extensions
}

it('a proxied task is polled, and its result is returned with progress', async () => {
  const tasks = taskServer({ state: { statusMessage: 'queued' } })
  await using client = await connect(tasks.server)
  const { ctx, progress } = contextOf()
  const called = proxy(client).callTool?.({ name: 'slow', arguments: {} }, ctx)
  await wait(2_000)
  tasks.task.set({ statusMessage: 'half' })
  await wait(4_000)
  tasks.task.complete()
  await wait(6_000)
  expect(await called).toMatchObject({ content: [{ text: 'done' }] })
  expect(progress).toEqual([
    [1, undefined, 'queued'],
    [2, undefined, 'half'],
    [3, undefined, 'half'],
  ])
})

it('a proxied task asks the caller', async () => {
  const tasks = taskServer({ run: (task) => task.ask({ a: form('Which?') }) })
  await using client = await connect(tasks.server)
  const asked: unknown[] = []
  const ask = async (requests: Record<string, InputRequest>) => {
    asked.push(requests)
    return { 'upstream-task-a': { action: 'decline' } }
  }
  const { ctx } = contextOf({ ask: ask as never })
  const called = proxy(client).callTool?.({ name: 'slow', arguments: {} }, ctx)
  await wait(3_000)
  expect(asked).toEqual([{ 'upstream-task-a': form('Which?') }])
  expect(tasks.task.responses).toEqual([['a', { action: 'decline' }]])
  tasks.task.complete()
  await wait(3_000)
  await called
})

it('a proxied task is cancelled with its caller', async () => {
  const tasks = taskServer()
  await using client = await connect(tasks.server)
  const controller = new AbortController()
  const { ctx } = contextOf({ signal: controller.signal })
  const called = Promise.resolve(proxy(client).callTool?.({ name: 'slow', arguments: {} }, ctx))
  called.catch(() => {})
  await wait(2_000)
  controller.abort()
  await expect(called).rejects.toThrow()
  await wait(10)
  expect(tasks.task.state.status).toBe('cancelled')
})

it.each([
  [true, { 'com.example/x': {}, [TASKS_ID]: {} }],
  [false, { 'com.example/x': {} }],
])('a proxy declares tasks for its own client (%s), and other extensions for its caller', async (own, declared) => {
  const server = scriptedServer('2026-07-28', { answers: { 'tools/call': () => ({ content: [] }) } })
  await using client = await connect(server, { tasks: own })
  const capabilities = { extensions: { 'com.example/x': {}, [TASKS_ID]: {} } }
  const { ctx } = contextOf({ client: { info: undefined, capabilities } as never })
  await proxy(client).callTool?.({ name: 'slow', arguments: {} }, ctx)
  expect(declaredBy(server.asked('tools/call')[0])).toEqual(declared)
})

it('a proxy lists the tools of a legacy server without their task support, and follows their tasks', async () => {
  const task = { taskId: 't', status: 'completed', createdAt: '', lastUpdatedAt: '', ttl: null }
  const inputSchema = { type: 'object' }
  const server = scriptedServer('2025-11-25', {
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
    answers: {
      'tools/list': () => ({ tools: [{ name: 'long', inputSchema, execution: { taskSupport: 'required' } }] }),
      'tools/call': ({ params }) => (params.task === undefined ? { isError: true } : { task }),
      'tasks/get': () => task,
      'tasks/result': () => ({ content: [{ type: 'text', text: 'done' }] }),
    },
  })
  await using client = await connect(server)
  const { listTools, callTool } = proxy(client)
  const { ctx } = contextOf()
  expect(await listTools?.({}, ctx)).toMatchObject({ tools: [{ name: 'long', inputSchema }] })
  expect(JSON.stringify(await listTools?.({}, ctx))).not.toContain('execution')
  expect(await callTool?.({ name: 'long', arguments: {} }, ctx)).toMatchObject({ content: [{ text: 'done' }] })
})
