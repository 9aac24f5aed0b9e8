/** Tasks of our server, as our client sees them. */

import { type Client, type ClientOptions, connect, proxy, type Task } from '@mcpx/client'
import { RpcError, type Store } from '@mcpx/protocol'
import { createServer, memoryStore, ToolError } from '@mcpx/server'
import { tasks } from '@mcpx/tasks'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

const form = { type: 'object', properties: { ok: { type: 'boolean' } } } as const
const secrets = ['0123456789abcdef0123456789abcdef']
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A server with long-running tools. `release` ends the tool `wait`. `events` records the actions of the handlers. */
function createStudio(store: Store = memoryStore()) {
  const events: string[] = []
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const server = createServer(
    { name: 'studio', version: '1.0.0' },
    { store, secrets, extensions: [tasks({ pollInterval: 100, inlineTime: 20 })] },
  )
    .tool('ask', { task: 'required' }, async (_args, ctx) => {
      events.push('ask')
      await ctx.progress(1, 2, 'asking')
      const answers = await Promise.all(
        ['a', 'b'].map((key) => ctx.elicit(key, { message: key, schema: form, otherwise: 'no form' })),
      )
      return answers.map(({ action }) => action).join()
    })
    .tool('wait', { task: 'auto' }, async (_args, ctx) => {
      events.push('wait')
      ctx.signal.addEventListener('abort', () => events.push('aborted'))
      await ctx.progress(1, 2, 'half')
      await released
      return 'waited'
    })
    .tool('quick', { task: 'auto' }, () => 'quick')
    .tool(
      'sum',
      { task: 'required', output: { type: 'object', properties: { n: { type: 'integer' } } } as const },
      () => ({
        n: 3,
      }),
    )
    .tool('tool-error', { task: 'required' }, () => {
      throw new ToolError('out of paper')
    })
    .tool('rpc-error', { task: 'required' }, () => {
      throw new RpcError(-32_602, 'no such film', { data: { film: 7 } })
    })
  onTestFinished(() => server.close())
  return { server, events, release }
}

type Studio = ReturnType<typeof createStudio>

async function overMemory({ server }: Studio, options: ClientOptions): Promise<Client> {
  return connect(server, options)
}

async function overHttp({ server }: Studio, options: ClientOptions): Promise<Client> {
  const { url, close } = await serveHttp(server, { port: 0 })
  onTestFinished(close)
  return connect(http(url), options)
}

describe.each([
  ['in memory', overMemory],
  ['over HTTP', overHttp],
])('a task %s', (_, open) => {
  async function start(options: ClientOptions = {}) {
    const studio = createStudio()
    const client = await open(studio, options)
    onTestFinished(() => client.close())
    return { ...studio, client }
  }

  it('asks, reports and returns like a plain call', async () => {
    const asked: string[] = []
    const { client, events } = await start({
      async onElicit(ask) {
        asked.push(ask.message)
        await sleep(300)
        return { action: ask.message === 'a' ? 'accept' : 'decline', content: { ok: true } }
      },
    })
    const states: Task[] = []
    const { content } = await client.callTool('ask', {}, { onStatus: (task) => void states.push(task) })
    expect(content).toEqual([{ type: 'text', text: 'accept,decline' }])
    expect(asked.sort()).toEqual(['a', 'b'])
    expect(events).toEqual(['ask'])
    expect(states.at(-1)?.status).toBe('completed')
    expect(states).toContainEqual(expect.objectContaining({ status: 'input_required', statusMessage: 'asking' }))
  })

  it('has typed output', async () => {
    const { client } = await start()
    await client.listTools().all()
    expect(await client.tools.sum?.()).toEqual({ n: 3 })
  })

  it('fails like a plain call', async () => {
    const { client } = await start()
    expect(await client.callTool('tool-error')).toMatchObject({ isError: true, content: [{ text: 'out of paper' }] })
    await expect(client.callTool('rpc-error')).rejects.toMatchObject({
      code: -32_602,
      message: 'no such film',
      data: { film: 7 },
    })
  })

  it('is none if the tool is quick', async () => {
    const { client } = await start()
    const handle = await client.callTool('quick', {}, { task: 'handle' })
    expect(handle.id).toBe('')
    expect(await handle.result()).toMatchObject({ content: [{ text: 'quick' }] })
  })

  it('is cancelled by the signal of its call', async () => {
    const { client, events } = await start()
    const controller = new AbortController()
    const onStatus = vi.fn()
    const called = client.callTool('wait', {}, { signal: controller.signal, onStatus })
    called.catch(() => {})
    await vi.waitFor(() => expect(onStatus).toHaveBeenCalled())
    controller.abort()
    await expect(called).rejects.toMatchObject({ reason: 'cancelled' })
    await vi.waitFor(() => expect(events).toEqual(['wait', 'aborted']))
    await expect(client.task(onStatus.mock.calls[0]?.[0].taskId).result()).rejects.toMatchObject({
      name: 'TaskError',
      reason: 'cancelled',
    })
  })

  it('can be returned to by its id', async () => {
    const { client, release } = await start()
    const handle = await client.callTool('wait', {}, { task: 'handle' })
    expect(await handle.status()).toMatchObject({ status: 'working', pollIntervalMs: 100 })
    const result = client.task(handle.id, { tool: 'wait' }).result()
    release()
    expect(await result).toMatchObject({ content: [{ text: 'waited' }] })
    expect(await handle.status()).toMatchObject({ status: 'completed' })
    await expect(client.task(`${handle.id}x`).status()).rejects.toMatchObject({ name: 'TaskError', reason: 'unknown' })
  })

  it('ends its call at once, because the server sends the states', async () => {
    const { client, release } = await start()
    const called = client.callTool('wait')
    // This is longer than the first polls, which use the interval that the server requests.
    await sleep(400)
    const startTime = performance.now()
    release()
    await called
    expect(performance.now() - startTime).toBeLessThan(5_000)
  })

  it('is refused to a client without tasks, with the remedy', async () => {
    const { client, release } = await start({ tasks: false })
    await expect(client.callTool('ask')).rejects.toMatchObject({
      code: -32_021,
      message: expect.stringContaining('Pass tasks: true to connect'),
    })
    release()
    expect(await client.callTool('wait')).toMatchObject({ content: [{ text: 'waited' }] })
  })

  it('is a plain call in the legacy era, with progress', async () => {
    const { client, release } = await start({ era: 'legacy' })
    const onProgress = vi.fn()
    const called = client.callTool('wait', {}, { onProgress })
    await vi.waitFor(() => expect(onProgress).toHaveBeenCalledWith({ progress: 1, total: 2, message: 'half' }))
    release()
    expect(await called).toMatchObject({ content: [{ text: 'waited' }] })
    expect(await client.callTool('ask')).toMatchObject({ isError: true })
    const handle = await client.callTool('quick', {}, { task: 'handle' })
    expect(handle.id).toBe('')
  })

  it('is answered plainly through a proxy, with progress and questions', async () => {
    const { client: upstream, release } = await start({ capabilities: { elicitation: { form: {} } } })
    const front = createServer({ name: 'front', version: '1.0.0' }, { secrets }).mount('studio', proxy(upstream))
    for (const era of ['modern', 'legacy'] as const) {
      const onElicit = vi.fn(() => ({ action: 'decline' }) as const)
      await using client = await connect(front, { era, onElicit })
      expect(await client.callTool('studio.ask')).toMatchObject({ content: [{ text: 'decline,decline' }] })
      const onProgress = vi.fn()
      const called = client.callTool('studio.wait', {}, { onProgress })
      await vi.waitFor(() => expect(onProgress).toHaveBeenCalled())
      release()
      expect(await called).toMatchObject({ content: [{ text: 'waited' }] })
    }
  })
})

it('a task is finished by another server with the same store, to which the client returns', async () => {
  const store = memoryStore()
  const first = createStudio(store)
  const { url, close } = await serveHttp(first.server, { port: 0 })
  const client = await connect(http(url), { timeout: 30_000 })
  onTestFinished(() => client.close())
  const called = client.callTool('wait')
  await vi.waitFor(() => expect(first.events).toEqual(['wait']))
  await sleep(150)
  const { port } = new URL(url)
  await close()
  const second = createStudio(store)
  const again = await serveHttp(second.server, { port: Number(port) })
  onTestFinished(again.close)
  first.release()
  expect(await called).toMatchObject({ content: [{ text: 'waited' }] })
})
