import { connect } from '@mcpx/client'
import { memoryStore } from '@mcpx/protocol/memory'
import { createServer, type Server } from '@mcpx/server'
import { tasks } from '@mcpx/tasks'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type TelemetryOptions, telemetry } from './index.ts'
import { createSdk, idOf, parentOf, traceOf } from './otel.fixture.ts'

type Sdk = ReturnType<typeof createSdk>

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A server whose tools run as tasks. */
function createShop(
  sdk: Sdk,
  { ignore, gauges }: TelemetryOptions = {},
  store = memoryStore(),
  lease = 30_000,
): Server {
  const server = createServer(
    { name: 'shop', version: '1' },
    {
      store,
      secrets: ['the same in all processes'],
      extensions: [tasks({ inlineTime: 20, pollInterval: 10, lease })],
      telemetry: telemetry({ tracer: sdk.tracer, meter: sdk.meter, ignore, gauges }),
      onError: () => {},
    },
  )
    .tool('ship', { task: 'required', resumable: true }, async (_, ctx) => {
      sdk.tracer.startSpan('SELECT', { kind: SpanKind.CLIENT }).end()
      const answer = await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ yes: z.boolean() }) })
      return answer.action
    })
    .tool('bake', { task: 'auto' }, async () => {
      await wait(60)
      return 'baked'
    })
    .tool('burn', { task: 'required' }, () => {
      throw new TypeError('secret recipe')
    })
  onTestFinished(() => server.close())
  return server as unknown as Server
}

async function connectShop(shop: Server, sdk: Sdk, ignore?: readonly string[]) {
  const client = await connect(shop, {
    onElicit: async () => ({ action: 'decline' }),
    telemetry: telemetry({ tracer: sdk.tracer, meter: sdk.meter, ignore }),
  })
  onTestFinished(() => client.close())
  return client
}

it('the span of the creating call ends with its response, and the work is a linked span', async () => {
  const [here, there] = [createSdk(), createSdk()]
  const client = await connectShop(createShop(there), here)
  await client.callTool('ship')
  await expect.poll(() => there.named('task tools/call ship')).toHaveLength(1)
  const [call] = there.named('tools/call ship')
  const [work] = there.named('task tools/call ship')
  const [query] = there.named('SELECT')
  expect(parentOf(call)).toBe(idOf(here.named('tools/call ship')[0]))
  expect(parentOf(work)).toBeUndefined()
  expect(traceOf(work)).not.toBe(traceOf(call))
  expect(work?.links.map(({ context }) => context.spanId)).toEqual([idOf(call)])
  expect(work?.kind).toBe(SpanKind.INTERNAL)
  expect(work?.attributes).toEqual({ 'gen_ai.tool.name': 'ship', 'mcpx.task.id': expect.any(String) })
  expect(parentOf(query)).toBe(idOf(work))
  // The client answers the question of the task as a part of its call.
  const [answered] = here.named('elicitation/create')
  expect(parentOf(answered)).toBe(idOf(here.named('tools/call ship')[0]))
  expect(here.named('tasks/update').map(traceOf)).toEqual([traceOf(call)])
  expect(there.named('tasks/update').map(parentOf)).toEqual(here.named('tasks/update').map(idOf))
})

it('a call that becomes a task later has a linked span from then on', async () => {
  const [here, there] = [createSdk(), createSdk()]
  const client = await connectShop(createShop(there), here)
  expect(await client.callTool('bake')).toMatchObject({ content: [{ text: 'baked' }] })
  await expect.poll(() => there.named('task tools/call bake')).toHaveLength(1)
  const [work] = there.named('task tools/call bake')
  expect(work?.links.map(({ context }) => context.spanId)).toEqual([idOf(there.named('tools/call bake')[0])])
  expect(work?.status.code).toBe(SpanStatusCode.UNSET)
})

it('a task whose tool failed has an error, without its message', async () => {
  const [here, there] = [createSdk(), createSdk()]
  const client = await connectShop(createShop(there), here)
  expect(await client.callTool('burn')).toMatchObject({ isError: true })
  await expect.poll(() => there.named('task tools/call burn')).toHaveLength(1)
  const [work] = there.named('task tools/call burn')
  expect(work?.status).toEqual({ code: SpanStatusCode.ERROR })
  expect(work?.attributes['error.type']).toBe('tool_error')
  expect(JSON.stringify(work?.attributes)).not.toContain('recipe')
})

it.each([
  [[], 1],
  [['tasks/get'], 0],
] as const)('polls have spans unless they are ignored: %j', async (ignore, count) => {
  const [here, there] = [createSdk(), createSdk()]
  const client = await connectShop(createShop(there, { ignore }), here, ignore)
  const { id } = await client.callTool('bake', {}, { task: 'handle' })
  here.reset()
  there.reset()
  await client.request('tasks/get', { taskId: id })
  expect([here.named('tasks/get'), there.named('tasks/get')].map(({ length }) => length)).toEqual([count, count])
  const points = (await there.metric('mcp.server.operation.duration'))?.dataPoints ?? []
  expect(points.map(({ attributes }) => attributes['mcp.method.name'])).toContain('tasks/get')
})

it('a process that continues a task links its work to the client that called', async () => {
  const [here, first, second] = [createSdk(), createSdk(), createSdk()]
  const store = memoryStore()
  const recover = (shop: Server, run: () => Promise<string>) =>
    shop.tool('recover', { task: 'required', resumable: true }, run)
  const shop = createShop(first, {}, store, 200)
  recover(shop, () => new Promise(() => {}))
  const client = await connectShop(shop, here)
  await client.callTool('recover', {}, { task: 'handle' })
  recover(createShop(second, {}, store, 200), async () => 'recovered')
  shop.close()
  await expect.poll(() => second.named('task tools/call recover'), { timeout: 5_000 }).toHaveLength(1)
  const [work] = second.named('task tools/call recover')
  expect(parentOf(work)).toBeUndefined()
  expect(work?.links.map(({ context }) => context.spanId)).toEqual([idOf(here.named('tools/call recover')[0])])
})

it('a gauge counts the tasks of this process by status', async () => {
  const [here, there] = [createSdk(), createSdk()]
  const client = await connect(createShop(there, { gauges: true }), {
    telemetry: telemetry({ tracer: here.tracer, meter: false }),
    onElicit: () => new Promise(() => {}),
  })
  onTestFinished(() => client.close())
  const read = async () => {
    const points = (await there.metric('mcpx.server.tasks'))?.dataPoints ?? []
    return Object.fromEntries(points.map(({ attributes, value }) => [attributes['mcpx.task.status'], value]))
  }
  expect(await read()).toEqual({ working: 0, input_required: 0 })
  const stop = new AbortController()
  const calling = client.callTool('ship', {}, { signal: stop.signal }).catch(() => {})
  await expect.poll(read).toEqual({ working: 0, input_required: 1 })
  stop.abort()
  await calling
  await expect.poll(read).toEqual({ working: 0, input_required: 0 })
})
