import {
  type Exchange,
  type JsonObject,
  type Responder,
  RpcError,
  TASKS_EXTENSION,
  type TaskStore,
  withEnvelope,
} from '@mcpx/protocol'
import { createMemoryTaskStore } from '@mcpx/protocol/memory'
import { createServer, memoryStore, type Server, type ServerOptions, ToolError } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { continueAsTask, type TasksOptions, tasks } from './index.ts'
import { closePeers, connectPeer, type Peer } from './peer.fixture.ts'

const servers: { close(): void }[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
  await closePeers()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const Name = z.object({ name: z.string() })
const askName = { message: 'Your name?', schema: Name }
const accept = (content: JsonObject) => ({ action: 'accept', content })

function create(options: TasksOptions = {}, serverOptions: ServerOptions = {}) {
  const server = createServer(
    { name: 'test', version: '1' },
    { onError: () => {}, ...serverOptions, extensions: [tasks({ inlineTime: 30, ...options })] },
  )
  servers.push(server)
  return server
}

describe('a resumable tool of a server without a store', () => {
  const resumable = { task: 'auto', resumable: true } as const

  it('warns once, when a call becomes a task', async () => {
    const warnings: string[] = []
    const onWarning = ({ message }: Error) => void warnings.push(message)
    const server = create({}, { onWarning }).tool('ship', resumable, () => 'shipped')
    await connectPeer(server, undeclared).call('ship')
    expect(warnings).toEqual([])
    for (let n = 0; n < 2; n++) await connectPeer(server).call('ship')
    expect(warnings).toEqual([
      'tasks: the tool "ship" is resumable, but its tasks are in the memory of this process and end with it. Pass a store to createServer: ...openLocalState(name) of @mcpx/store-sqlite/node for the processes of one host, as those of a stdio server, or redisStore(client) of @mcpx/store-redis for several',
    ])
  })

  it('does not warn with a store, or for a tool that is not resumable', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => void warnings.push(warning)
    const servers = [
      create({}, { onWarning }).tool('ship', { task: 'auto' }, () => 'shipped'),
      create({}, { onWarning, store: memoryStore() }).tool('ship', resumable, () => 'shipped'),
      create({ store: memoryStore() }, { onWarning }).tool('ship', resumable, () => 'shipped'),
    ]
    for (const server of servers) await connectPeer(server).call('ship')
    expect(warnings).toEqual([])
  })
})

const undeclared = { capabilities: { elicitation: {} } }

describe('a tool with task: "auto"', () => {
  const slow = () =>
    create().tool('slow', { input: z.object({ ms: z.number() }), task: 'auto' }, async ({ ms }) => {
      await pause(ms)
      return `done after ${ms}`
    })

  it('responds with the result if it ends in time', async () => {
    const result = await connectPeer(slow()).call('slow', { ms: 0 })
    expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'done after 0' }] })
    expect(result).not.toHaveProperty('taskId')
  })

  it('becomes a task that can be read at once, and ends with the result of the call', async () => {
    const peer = connectPeer(slow())
    const created = await peer.call('slow', { ms: 100 })
    expect(created).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^[\w-]{32}$/),
      status: 'working',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      lastUpdatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      ttlMs: 3_600_000,
      pollIntervalMs: 1_000,
    })
    for (const member of ['task', 'result', 'error', 'inputRequests', 'requestState']) {
      expect(created).not.toHaveProperty(member)
    }
    const working = await peer.get(created.taskId)
    expect(working).toMatchObject({ resultType: 'complete', taskId: created.taskId, status: 'working' })
    const ended = await peer.until(created.taskId, 'completed')
    expect(ended.result).toEqual({ content: [{ type: 'text', text: 'done after 100' }] })
    await pause(100)
    expect(await peer.get(created.taskId)).toEqual(ended)
  })

  it('responds with the result to clients without tasks, however long it takes', async () => {
    const result = await connectPeer(slow(), undeclared).call('slow', { ms: 100 })
    expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'done after 100' }] })
  })

  it('continues with progress notifications for clients without tasks, past its inline time', async () => {
    const server = create().tool('t', { task: 'auto' }, async (_, ctx) => {
      await pause(60)
      await ctx.progress(1, 2, 'half')
      await pause(60)
      return 'done'
    })
    const peer = connectPeer(server, undeclared)
    expect(await peer.call('t')).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] })
    expect(peer.heard).toMatchObject([{ method: 'notifications/progress', params: { message: 'half' } }])
  })

  it('uses the declaration of each request, not of earlier ones, and not the old capability', async () => {
    const server = slow()
    expect(await connectPeer(server).call('slow', { ms: 60 })).toMatchObject({ resultType: 'task' })
    const old = connectPeer(server, { capabilities: { tasks: { requests: { tools: { call: {} } } } } })
    expect(await old.call('slow', { ms: 60 })).toMatchObject({ resultType: 'complete' })
    expect(await old.get('x')).toMatchObject({ code: -32021 })
  })

  it('sends input requests in an `input_required` result until it is a task', async () => {
    const server = create().tool('greet', { task: 'auto' }, async (_, ctx) => {
      const answer = await ctx.elicit('user', askName)
      const task = await continueAsTask(ctx)
      await pause(20)
      return `${task?.id === undefined ? 'plain' : 'task'}: ${answer.content?.name}`
    })
    const peer = connectPeer(server)
    const asked = await peer.call('greet')
    expect(asked).toMatchObject({ resultType: 'input_required', inputRequests: { user: expect.anything() } })
    expect(asked).not.toHaveProperty('taskId')
    const inputResponses = { user: accept({ name: 'Alice' }) }
    const retry = asked.requestState === undefined ? {} : { requestState: asked.requestState }
    const created = await peer.call('greet', {}, { inputResponses, ...retry })
    expect(created).toMatchObject({ resultType: 'task' })
    expect(created).not.toHaveProperty('requestState')
    expect((await peer.until(created.taskId, 'completed')).result?.content[0]?.text).toBe('task: Alice')
    const plain = connectPeer(server, undeclared)
    expect(await plain.call('greet', {}, { inputResponses })).toMatchObject({ content: [{ text: 'plain: Alice' }] })
  })

  it('keeps the steps that finished before it became a task', async () => {
    let runs = 0
    const server = create().tool('t', { task: 'auto' }, async (_, ctx) => {
      const before = await ctx.step('a', () => `run ${++runs}`)
      await ctx.elicit('user', askName)
      await continueAsTask(ctx)
      return `${before} ${await ctx.step('a', () => `run ${++runs}`)}`
    })
    const peer = connectPeer(server)
    const { requestState = '' } = await peer.call('t')
    const created = await peer.call('t', {}, { inputResponses: { user: accept({ name: 'A' }) }, requestState })
    expect((await peer.until(created.taskId, 'completed')).result?.content[0]?.text).toBe('run 1 run 1')
  })

  it('responds with errors that happen in time', async () => {
    const server = create()
      .tool('refuses', { task: 'auto' }, () => {
        throw new RpcError(-32000, 'no')
      })
      .tool('fails', { task: 'auto' }, () => {
        throw new ToolError('bad luck')
      })
    const peer = connectPeer(server)
    expect(await peer.call('refuses')).toMatchObject({ code: -32000, message: 'no' })
    expect(await peer.call('fails')).toMatchObject({ isError: true, content: [{ text: 'bad luck' }] })
    expect(await peer.call('none')).toMatchObject({ code: -32602 })
  })

  it('continues when the connection of its request has ended', async () => {
    let isAborted = false
    let finish = () => {}
    const server = create().tool('t', { task: 'auto' }, async (_, { signal }) => {
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      isAborted = signal.aborted
      return 'x'
    }) as ReturnType<typeof create> & Responder
    const request = new AbortController()
    const exchange = {
      signal: request.signal,
      auth: undefined,
      session: undefined,
      requestInfo: undefined,
      notify() {},
    }
    const clientCapabilities = { extensions: { [TASKS_EXTENSION]: {} } }
    const params = withEnvelope({ name: 't' }, { protocolVersion: '2026-07-28', clientCapabilities })
    const response = await server.respond({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, exchange)
    request.abort()
    finish()
    const { taskId } = (response as unknown as { result: { taskId: string } }).result
    await connectPeer(server).until(taskId, 'completed')
    expect(isAborted).toBe(false)
  })

  it('does not become a task when it has asked, even if the handler continues', async () => {
    let task: unknown = 'none'
    const server = create().tool('t', { task: 'auto' }, async (_, ctx) => {
      await ctx.elicit('user', askName).catch(() => {})
      await pause(100)
      task = await continueAsTask(ctx)
      return 'x'
    })
    expect(await connectPeer(server).call('t')).toMatchObject({ resultType: 'input_required' })
    expect(task).toBeUndefined()
  })

  it('aborts the handler if the request is cancelled before it is a task', async () => {
    let reason: unknown
    const server = create({ inlineTime: 10_000 }).tool('t', { task: 'auto' }, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reason = signal.reason
      return ''
    })
    const abort = new AbortController()
    const call = connectPeer(server).send('tools/call', { name: 't' }, { signal: abort.signal })
    setTimeout(() => abort.abort(), 20)
    expect(await call).toMatchObject({ reason: 'cancelled' })
    await expect.poll(() => reason).toBeDefined()
  })
})

describe('a tool with task: "required"', () => {
  it('is refused for clients without tasks, before anything else', async () => {
    const server = create().tool('t', { task: 'required', input: z.object({ n: z.number() }) }, () => '')
    expect(await connectPeer(server, undeclared).call('t', {})).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    })
  })

  it('is a task at once', async () => {
    const peer = connectPeer(create().tool('t', { task: 'required' }, () => 'quick'))
    const created = await peer.call('t')
    expect(created).toMatchObject({ resultType: 'task', status: 'working' })
    expect((await peer.until(created.taskId, 'completed')).result?.content[0]?.text).toBe('quick')
  })

  it('does not reveal tools that the caller may not see', async () => {
    const server = create().tool('secret', { task: 'required', visible: () => false }, () => '')
    expect(await connectPeer(server, undeclared).call('secret')).toMatchObject({ code: -32602 })
  })
})

describe('the end of a task', () => {
  const failing = create().tool('t', { task: 'required', input: z.object({ how: z.string() }) }, ({ how }) => {
    if (how === 'tool') throw new ToolError('bad luck')
    if (how === 'rpc') throw new RpcError(-32050, 'broken', { data: { why: 'rust' } })
    if (how === 'bug') throw new Error('secret')
    return ''
  })

  it.each(['tool', 'bug'])('is "completed" with isError for a failed tool (%s)', async (how) => {
    const peer = connectPeer(failing)
    const ended = await peer.until((await peer.call('t', { how })).taskId, 'completed', 'failed')
    expect(ended).toMatchObject({ status: 'completed', result: { isError: true } })
    expect(JSON.stringify(ended)).not.toContain('secret')
  })

  it('is "completed" with isError for invalid arguments', async () => {
    const peer = connectPeer(failing)
    const ended = await peer.until((await peer.call('t', { how: 7 })).taskId, 'completed', 'failed')
    expect(ended).toMatchObject({ status: 'completed', result: { isError: true } })
  })

  it('is "failed" with a status message for a protocol error', async () => {
    const peer = connectPeer(failing)
    const ended = await peer.until((await peer.call('t', { how: 'rpc' })).taskId, 'completed', 'failed')
    expect(ended).toMatchObject({
      status: 'failed',
      statusMessage: 'broken',
      error: { code: -32050, message: 'broken', data: { why: 'rust' } },
    })
    expect(ended).not.toHaveProperty('result')
  })

  it('is "failed" for an `input_required` result of the handler', async () => {
    const server = create().tool(
      't',
      { task: 'required' },
      () => ({ resultType: 'input_required', requestState: 's' }) as never,
    )
    const peer = connectPeer(server)
    expect(await peer.until((await peer.call('t')).taskId, 'completed', 'failed')).toMatchObject({ status: 'failed' })
  })

  it('is "failed" if the result is too large', async () => {
    const server = create({ limits: { data: 2_000 } }).tool('t', { task: 'required' }, () => 'a'.repeat(3_000))
    const peer = connectPeer(server)
    expect(await peer.until((await peer.call('t')).taskId, 'completed', 'failed')).toMatchObject({
      status: 'failed',
      error: { data: { reason: 'too-large' } },
    })
  })

  it('is an error of the call if the arguments are too large', async () => {
    const server = create({ limits: { data: 2_000 } }).tool(
      't',
      { task: 'required', resumable: true, input: z.object({ text: z.string() }) },
      () => '',
    )
    expect(await connectPeer(server).call('t', { text: 'a'.repeat(3_000) })).toMatchObject({
      code: -32603,
      data: { reason: 'too-large' },
    })
  })

  it('is "cancelled" if the request is cancelled while the task is stored', async () => {
    const memory = memoryStore()
    let id = ''
    const store = {
      ...memory,
      tasks: {
        ...(memory.tasks as TaskStore),
        async create(...task: Parameters<TaskStore['create']>) {
          id = task[0]
          await pause(60)
          return memory.tasks?.create(...task)
        },
      },
    }
    const server = create({ store }).tool('t', { task: 'auto', resumable: true }, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return ''
    })
    const abort = new AbortController()
    const call = connectPeer(server).send('tools/call', { name: 't' }, { signal: abort.signal })
    setTimeout(() => abort.abort(), 60)
    expect(await call).toMatchObject({ reason: 'cancelled' })
    await pause(100)
    expect(await connectPeer(server).until(id, 'cancelled')).toMatchObject({ status: 'cancelled' })
  })

  it('is "failed" when the time to live has passed, aborts the handler, and is kept a little longer', async () => {
    let reason: unknown
    const server = create({ ttl: 500 }).tool('t', { task: 'required' }, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reason = signal.reason
      return 'late'
    })
    const peer = connectPeer(server)
    const created = await peer.call('t')
    expect(created.ttlMs).toBe(500)
    const ended = await peer.until(created.taskId, 'completed', 'failed')
    expect(ended).toMatchObject({
      status: 'failed',
      error: { code: -32603, data: { reason: 'expired' } },
      statusMessage: 'The task did not end within its time to live of 500 ms',
    })
    await expect.poll(() => reason).toMatchObject({ name: 'TaskEnded', reason: 'expired' })
    await pause(50)
    expect(await peer.get(created.taskId)).toEqual(ended)
  })

  it('has no metadata about a related task', async () => {
    const result = { content: [], _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'x' }, 'a.example/b': 1 } }
    const peer = connectPeer(create().tool('t', { task: 'required' }, () => result))
    const ended = await peer.until((await peer.call('t')).taskId, 'completed')
    expect(ended.result).toEqual({ content: [], _meta: { 'a.example/b': 1 } })
  })
})

describe('cancelling a task', () => {
  it('aborts the handler and ends the task', async () => {
    let reason: unknown
    const server = create().tool('t', { task: 'required' }, async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reason = signal.reason
      return 'late'
    })
    const peer = connectPeer(server)
    const { taskId } = await peer.call('t')
    const { _meta, ...ack } = (await peer.cancel(taskId)) as unknown as JsonObject
    expect(ack).toEqual({ resultType: 'complete' })
    expect(await peer.get(taskId)).toMatchObject({ status: 'cancelled' })
    await expect.poll(() => reason).toMatchObject({ name: 'TaskEnded', reason: 'cancelled' })
    await pause(20)
    expect(await peer.get(taskId)).toMatchObject({ status: 'cancelled' })
  })

  it('acknowledges tasks that have ended, and does not change them', async () => {
    const peer = connectPeer(create().tool('t', { task: 'required' }, () => 'x'))
    const { taskId } = await peer.call('t')
    const ended = await peer.until(taskId, 'completed')
    const { _meta, ...ack } = (await peer.cancel(taskId)) as unknown as JsonObject
    expect(ack).toEqual({ resultType: 'complete' })
    expect(await peer.get(taskId)).toEqual(ended)
  })
})

describe('input requests of a task', () => {
  const asking = () =>
    create()
      .tool('one', { task: 'required' }, async (_, ctx) => {
        const { action, content } = await ctx.elicit('user', askName)
        return `${action} ${content?.name}`
      })
      .tool('two', { task: 'required' }, async (_, ctx) => {
        const [first, second] = await Promise.all([ctx.elicit('first', askName), ctx.elicit('second', askName)])
        return `${first.content?.name} ${second.content?.name}`
      })

  it('are open until they are answered', async () => {
    const peer = connectPeer(asking())
    const { taskId } = await peer.call('one')
    const asked = await peer.until(taskId, 'input_required')
    expect(asked.inputRequests).toMatchObject({
      user: { method: 'elicitation/create', params: { message: 'Your name?' } },
    })
    expect(await peer.get(taskId)).toEqual(asked)
    const { _meta, ...ack } = (await peer.update(taskId, { user: accept({ name: 'Ada' }) })) as unknown as JsonObject
    expect(ack).toEqual({ resultType: 'complete' })
    expect((await peer.until(taskId, 'completed')).result?.content[0]?.text).toBe('accept Ada')
  })

  it('are open at the same time, and can be answered one by one', async () => {
    const peer = connectPeer(asking())
    const { taskId } = await peer.call('two')
    const asked = await peer.until(taskId, 'input_required')
    expect(Object.keys(asked.inputRequests ?? {})).toEqual(['first', 'second'])
    // Forms may have more members than were asked for.
    await peer.update(taskId, { first: accept({ name: 'A', confirm: true }) })
    const partly = await peer.get(taskId)
    expect(partly).toMatchObject({ status: 'input_required' })
    expect(Object.keys(partly.inputRequests ?? {})).toEqual(['second'])
    await peer.update(taskId, { second: accept({ name: 'B' }) })
    expect((await peer.until(taskId, 'completed')).result?.content[0]?.text).toBe('A B')
  })

  it('ignore responses to keys that are unknown or answered, whatever they are', async () => {
    const peer = connectPeer(asking())
    const { taskId } = await peer.call('two')
    await peer.until(taskId, 'input_required')
    await peer.update(taskId, { first: accept({ name: 'A' }) })
    expect(await peer.update(taskId, { other: { ignored: true }, first: accept({ name: 'X' }) })).toMatchObject({
      resultType: 'complete',
    })
    await peer.update(taskId, { second: accept({ name: 'B' }) })
    expect((await peer.until(taskId, 'completed')).result?.content[0]?.text).toBe('A B')
    expect(await peer.update(taskId, { second: accept({ name: 'B' }) })).toMatchObject({ resultType: 'complete' })
  })

  it('end the task if the handler uses a key twice, and are never shown again', async () => {
    const errors: unknown[] = []
    const server = create({}, { onError: (error) => errors.push(error) }).tool(
      't',
      { task: 'required' },
      async (_, ctx) => {
        await ctx.elicit('user', askName)
        await ctx.elicit('user', askName)
        return ''
      },
    )
    const peer = connectPeer(server)
    const { taskId } = await peer.call('t')
    await peer.until(taskId, 'input_required')
    await peer.update(taskId, { user: accept({ name: 'Ada' }) })
    const ended = await peer.until(taskId, 'completed', 'failed', 'input_required')
    expect(ended).toMatchObject({ status: 'completed', result: { isError: true } })
    expect(ended).not.toHaveProperty('inputRequests')
    expect(errors).toMatchObject([{ message: expect.stringContaining('"user": the key was already used') }])
  })

  it('refuse a response of the wrong type, with its place, and stay open', async () => {
    const peer = connectPeer(asking())
    const { taskId } = await peer.call('two')
    await peer.until(taskId, 'input_required')
    for (const wrong of [7, {}, { action: 'maybe' }, null]) {
      const refused = await peer.update(taskId, { first: accept({ name: 'A' }), second: wrong })
      expect(refused).toMatchObject({
        code: -32602,
        message: expect.stringContaining('params.inputResponses["second"]'),
      })
    }
    expect(Object.keys((await peer.get(taskId)).inputRequests ?? {})).toEqual(['first', 'second'])
  })

  it('are sent again with another key if the content is invalid', async () => {
    const peer = connectPeer(asking())
    const { taskId } = await peer.call('one')
    await peer.until(taskId, 'input_required')
    await peer.update(taskId, { user: accept({ name: 7 }) })
    const again = await peer.until(taskId, 'input_required')
    expect(Object.keys(again.inputRequests ?? {})).toEqual(['user#2'])
    await peer.update(taskId, { 'user#2': accept({ name: 'Ada' }) })
    expect((await peer.until(taskId, 'completed')).result?.content[0]?.text).toBe('accept Ada')
  })

  it('fail if the client of the call cannot answer them, and are hidden from other clients that cannot', async () => {
    const server = asking()
    const mute = connectPeer(server, { capabilities: { extensions: { [TASKS_EXTENSION]: {} } } })
    const failed = await mute.until((await mute.call('one')).taskId, 'completed', 'failed')
    expect(failed).toMatchObject({ status: 'failed', error: { code: -32021 } })
    const { taskId } = await connectPeer(server).call('one')
    await connectPeer(server).until(taskId, 'input_required')
    const seen = await mute.get(taskId)
    expect(seen).toMatchObject({ status: 'working' })
    expect(seen).not.toHaveProperty('inputRequests')
  })

  it('end with the task', async () => {
    const peer = connectPeer(asking())
    const { taskId } = await peer.call('one')
    await peer.until(taskId, 'input_required')
    await peer.cancel(taskId)
    const cancelled = await peer.get(taskId)
    expect(cancelled).toMatchObject({ status: 'cancelled' })
    expect(cancelled).not.toHaveProperty('inputRequests')
    expect(await peer.update(taskId, { user: accept({ name: 'A' }) })).toMatchObject({ resultType: 'complete' })
  })

  it('are reported if the handler does not await them', async () => {
    const errors: unknown[] = []
    const server = create({}, { onError: (error) => void errors.push(`${error}`) }).tool(
      't',
      { task: 'required' },
      async (_, ctx) => {
        void ctx.elicit('user', askName)
        return 'x'
      },
    )
    const peer = connectPeer(server)
    await peer.until((await peer.call('t')).taskId, 'completed')
    expect(errors).toEqual([
      'QuestionError: tools/call "t": the handler did not await ctx.elicit("user"); write `await` before it',
    ])
  })

  it('refuse answers that are too large, and stay open', async () => {
    const server = create({ limits: { data: 2_000 } }).tool('t', { task: 'required' }, async (_, ctx) =>
      String((await ctx.elicit('user', askName)).content?.name.length),
    )
    const peer = connectPeer(server)
    const { taskId } = await peer.call('t')
    await peer.until(taskId, 'input_required')
    expect(await peer.update(taskId, { user: accept({ name: 'a'.repeat(3_000) }) })).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^params\.inputResponses: limits\.data: expected at most 2000/),
    })
    await peer.update(taskId, { user: accept({ name: 'a' }) })
    expect((await peer.until(taskId, 'completed')).result?.content[0]?.text).toBe('1')
  })

  it('are limited', async () => {
    const server = create({ limits: { questions: 3 } }).tool('t', { task: 'required' }, async (_, ctx) => {
      await Promise.all(Array.from({ length: 4 }, (_each, n) => ctx.elicit(`q${n}`, askName)))
      return ''
    })
    const peer = connectPeer(server)
    expect(await peer.until((await peer.call('t')).taskId, 'completed', 'failed')).toMatchObject({
      status: 'failed',
      error: { message: 'The task has more than 3 open input requests (limits.questions)' },
    })
  })
})

describe('progress of a task', () => {
  it('becomes its status message, and sends no notification', async () => {
    let finish = () => {}
    const server = create().tool('t', { task: 'required' }, async (_, ctx) => {
      ctx.progress(1, 10)
      await pause(50)
      ctx.progress(2, 10, 'second')
      ctx.log.info('x')
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return ''
    })
    const peer = connectPeer(server)
    const { taskId } = await peer.call('t')
    await expect.poll(async () => (await peer.get(taskId)).statusMessage).toBe('1 of 10')
    await expect.poll(async () => (await peer.get(taskId)).statusMessage, { timeout: 3_000 }).toBe('second')
    finish()
    await peer.until(taskId, 'completed')
    expect(peer.heard).toEqual([])
  })

  it('is sent as a notification before the call is a task, and to clients without tasks', async () => {
    const server = create().tool('t', { task: 'auto' }, async (_, ctx) => {
      await ctx.progress(1, 2, 'half')
      return ''
    })
    for (const options of [{}, undeclared]) {
      const peer = connectPeer(server, options)
      await peer.call('t')
      expect(peer.heard).toMatchObject([{ method: 'notifications/progress', params: { progress: 1, message: 'half' } }])
    }
  })
})

it('a client may poll a task as often as it likes', async () => {
  const server = create().tool('t', { task: 'required' }, () => pause(100).then(() => 'done'))
  const peer = connectPeer(server)
  const { taskId } = await peer.call('t')
  const polls = await Promise.all(Array.from({ length: 100 }, () => peer.get(taskId)))
  for (const poll of polls) expect(poll).toMatchObject({ resultType: 'complete', taskId })
})

describe('the methods of tasks', () => {
  const methods = ['tasks/get', 'tasks/update', 'tasks/cancel']

  it('check the declaration before the id', async () => {
    const peer = connectPeer(create(), undeclared)
    for (const method of methods) {
      for (const params of [{ taskId: 'x', inputResponses: {} }, {}]) {
        expect(await peer.send(method, params)).toMatchObject({ code: -32021 })
      }
    }
  })

  it('refuse unknown and malformed ids', async () => {
    const peer = connectPeer(create())
    for (const method of methods) {
      for (const taskId of ['unknown', '', '__proto__', 7, null, 'x'.repeat(5_000)]) {
        const refused = await peer.send(method, { taskId, inputResponses: {} })
        expect(refused, `${method} ${taskId}`).toMatchObject({ code: -32602 })
        expect(refused.message).toMatch(/^params\.taskId: /)
      }
    }
    expect(await peer.send('tasks/update', { taskId: 'x' })).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^params\.inputResponses: /),
    })
  })

  it('do not include tasks/list and tasks/result', async () => {
    const peer = connectPeer(create())
    for (const method of ['tasks/result', 'tasks/list']) {
      expect(await peer.send(method, { taskId: 'x' })).toMatchObject({ code: -32601 })
    }
  })

  it('treat tasks of other callers as unknown', async () => {
    const server = create().tool(
      't',
      { task: 'required' },
      async (_, ctx) => (await ctx.elicit('user', askName)).action,
    )
    const auth = (subject: string, issuer = 'https://a.example') => ({ auth: { subject, issuer, scopes: [] } })
    const ada = connectPeer(server, auth('ada'))
    const { taskId } = await ada.call('t')
    await ada.until(taskId, 'input_required')
    const unknown = await ada.get('unknown')
    for (const other of [auth('bob'), auth('ada', 'https://b.example'), {}]) {
      const peer = connectPeer(server, other)
      expect(await peer.get(taskId)).toMatchObject({ code: unknown.code, message: unknown.message })
      expect(await peer.update(taskId, { user: { action: 'accept', content: { name: 'x' } } })).toMatchObject({
        code: -32602,
      })
      expect(await peer.cancel(taskId)).toMatchObject({ code: -32602 })
    }
    expect(await connectPeer(server, auth('ada')).get(taskId)).toMatchObject({ status: 'input_required' })
  })

  it('do not exist in the legacy era, where tools respond with the result', async () => {
    const { connect } = await import('@mcpx/client')
    const server = create()
      .tool('auto', { task: 'auto' }, async () => {
        await pause(60)
        return 'x'
      })
      .tool('required', { task: 'required' }, () => 'x')
    const client = await connect(server, { era: 'legacy' })
    expect(await client.callTool('auto')).toMatchObject({ content: [{ text: 'x' }] })
    expect(await client.callTool('required')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^The tool "required" runs only as a task/) }],
    })
    await client.close()
  })
})

describe('tasks()', () => {
  it('declares the extension with empty settings', async () => {
    const { capabilities } = (await connectPeer(create()).send('server/discover')) as unknown as {
      capabilities: JsonObject
    }
    expect(capabilities).toEqual({ extensions: { [TASKS_EXTENSION]: {} } })
  })

  it('ignores the opt-in of older revisions', async () => {
    const peer = connectPeer(
      create()
        .tool('t', {}, () => 'x')
        .tool('never', { task: 'never' }, () => 'x'),
    )
    for (const name of ['t', 'never']) {
      expect(await peer.call(name, {}, { task: { ttl: 1 } })).toMatchObject({ resultType: 'complete' })
    }
  })

  it('refuses invalid options by name', () => {
    expect(() => tasks({ tll: 1 } as never)).toThrow('tasks: there is no option "tll"; did you mean "ttl"?')
    expect(() => tasks({ ttl: 0 })).toThrow('tasks: ttl: expected a whole number from 1 to 2147483647, got 0')
    expect(() => tasks({ limits: { task: 1 } } as never)).toThrow('did you mean "tasks"?')
    expect(() => tasks({ store: {} as never })).toThrow('tasks: expected a store with the member `tasks`')
    expect(() => tasks().handle('x')).toThrow('pass { store } to tasks()')
    expect(() => create().tool('t', { task: 'always' } as never, () => '')).toThrow(
      'Tool "t", task: expected "auto", "required" or "never", got "always"',
    )
    expect(() => create().tool('t', { resumable: true }, () => '')).toThrow(
      'Tool "t", resumable: only a task can be resumed; add task: "auto" or task: "required"',
    )
  })

  it('works for mounted servers, whose own extension does nothing', async () => {
    const inner = create().tool(
      't',
      { task: 'required' },
      async (_, ctx) => `${(await continueAsTask(ctx)) !== undefined}`,
    )
    const outer = create().mount('inner', inner)
    const peer = connectPeer(outer)
    const { taskId } = await peer.call('inner.t')
    expect((await peer.until(taskId, 'completed')).result?.content[0]?.text).toBe('true')
    const without = createServer({ name: 'outer', version: '1' }).mount('inner', inner)
    expect(await connectPeer(without).call('inner.t')).toMatchObject({ content: [{ text: 'false' }] })
  })

  it('limits the tasks that are kept, in all and per caller', async () => {
    const server = create({ limits: { tasks: 20 }, ttl: 200 })
      .tool('required', { task: 'required' }, () => 'x')
      .tool('auto', { task: 'auto' }, async () => {
        await pause(60)
        return 'x'
      })
    const peer = connectPeer(server)
    for (let n = 0; n < 20; n++) expect(await peer.call('required')).toMatchObject({ resultType: 'task' })
    expect(await peer.call('required')).toMatchObject({ code: -32603, data: { reason: 'limit' } })
    expect(await peer.call('auto')).toMatchObject({ resultType: 'complete' })
  })

  it('limits the arguments of the tasks that run, in all and per caller', async () => {
    const server = create({ limits: { data: 20_000, arguments: 60_000, perCaller: 1 } })
      .tool('wait', { task: 'required' }, (_, { signal }) => untilAborted(signal))
      .tool('resumable', { task: 'required', resumable: true }, (_, { signal }) => untilAborted(signal))
    const peer = connectPeer(server)
    const text = 'x'.repeat(10_000)
    const first = await peer.call('wait', { text })
    for (let n = 0; n < 3; n++) expect(await peer.call('resumable', { text })).toMatchObject({ resultType: 'task' })
    expect(await peer.call('wait', { text })).toMatchObject({ code: -32603, data: { reason: 'limit' } })
    await peer.send('tasks/cancel', { taskId: first.taskId })
    await peer.until(first.taskId, 'cancelled')
    expect(await peer.call('wait', { text })).toMatchObject({ resultType: 'task' })
    const tooLarge = await peer.call('wait', { text: 'x'.repeat(20_000) })
    expect(tooLarge).toMatchObject({ code: -32603, data: { reason: 'too-large' } })
  })
})

describe('tasks in a store with limits', () => {
  /** A peer whose exchanges name a caller, as those over HTTP do. */
  function connectCaller(server: Server, caller: string): Peer {
    const respond: Responder['respond'] = (message, exchange) => {
      const get = (target: Exchange, name: keyof Exchange) => {
        const value: unknown = name === 'caller' ? caller : Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      }
      return server.respond(message, new Proxy(exchange, { get: get as never }))
    }
    return connectPeer({ respond })
  }

  it('of one caller leave room for those of others, and fail by name', async () => {
    const store = { ...memoryStore(), tasks: createMemoryTaskStore({ maxTotalCharacters: 100_000 }) }
    const faults: unknown[] = []
    const server = createServer(
      { name: 'full', version: '1' },
      { extensions: [tasks({ store })], onError: (error) => faults.push(error) },
    ).tool('t', { task: 'required' }, () => 'x'.repeat(10_000))
    const [alice, bob] = [connectCaller(server, 'alice'), connectCaller(server, 'bob')]
    const ends: string[] = []
    for (let count = 0; count < 3; count++) {
      const { taskId } = await alice.call('t')
      const { status = '', error } = await alice.until(taskId, 'completed', 'failed')
      ends.push(`${status} ${error?.data?.reason}`)
    }
    expect(ends).toEqual(['completed undefined', 'completed undefined', 'failed limit'])
    expect(faults).toMatchObject([{ message: expect.stringMatching(/^maxTotalCharacters: the tasks of one caller/) }])
    await bob.until((await bob.call('t')).taskId, 'completed')
    for (let count = 0; count < 100; count++) await alice.call('t')
    expect(await alice.call('t')).toMatchObject({ code: -32603, data: { reason: 'limit' } })
    await bob.until((await bob.call('t')).taskId, 'completed')
  })
})

function untilAborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted')))
}
