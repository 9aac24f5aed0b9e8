import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { RequestMessage } from '@mcpx/protocol'
import { TASKS_EXTENSION, withEnvelope } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tasks } from './index.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Returns the used memory after garbage collection, in bytes. */
async function usedMemory(): Promise<number> {
  for (let n = 0; n < 3; n++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return process.memoryUsage().heapUsed
}

const COUNT = 10_000
const envelope = {
  protocolVersion: '2026-07-28',
  clientCapabilities: { elicitation: {}, extensions: { [TASKS_EXTENSION]: {} } },
}
const exchange = {
  signal: new AbortController().signal,
  auth: undefined,
  session: undefined,
  requestInfo: undefined,
  notify() {},
}

interface Answer {
  readonly result: { readonly taskId: string; readonly status: string }
}

function createApi(ttl: number) {
  const onError = (error: unknown) => {
    throw error
  }
  const server = createServer(
    { name: 'many', version: '1' },
    { onError, extensions: [tasks({ ttl, limits: { tasks: 100_000, perCaller: 1 } })] },
  )
    .tool('quick', { task: 'required' }, () => 'done')
    .tool('ask', { task: 'required', resumable: true }, async (_, ctx) =>
      String((await ctx.elicit('yes', { message: 'Yes?', schema: z.object({ yes: z.boolean() }) })).content?.yes),
    )
  let id = 0
  const send = async (method: string, params: object): Promise<Answer['result']> => {
    const message: RequestMessage = { jsonrpc: '2.0', id: id++, method, params: withEnvelope(params, envelope) }
    return ((await server.respond(message, exchange)) as unknown as Answer).result
  }
  return { server, send }
}

it('keeps 10,000 tasks that wait for an answer, and frees all but the record of each when it has ended', async () => {
  const { server, send } = createApi(600_000)
  const create = async (count: number) => {
    const ids: string[] = []
    for (let n = 0; n < count; n++) ids.push((await send('tools/call', { name: 'ask' })).taskId)
    return ids
  }
  const answer = async (ids: readonly string[]) => {
    const inputResponses = { yes: { action: 'accept', content: { yes: true } } }
    for (const taskId of ids) await send('tasks/update', { taskId, inputResponses })
    for (const taskId of ids) {
      while ((await send('tasks/get', { taskId })).status !== 'completed') await new Promise(setImmediate)
    }
  }
  await answer(await create(100))
  const before = await usedMemory()
  const ids = await create(COUNT - 100)
  const waiting = ((await usedMemory()) - before) / ids.length
  await answer(ids)
  const ended = ((await usedMemory()) - before) / ids.length
  console.log(`${waiting.toFixed(0)} B for a task that waits, ${ended.toFixed(0)} B for one that has ended`)
  expect(waiting).toBeLessThan(30_000)
  expect(ended).toBeLessThan(1_500)
  server.close()
}, 120_000)

it('uses the same memory after 20,000 tasks as after 10,000', async () => {
  const { server, send } = createApi(200)
  const used: number[] = []
  for (let wave = 0; wave < 2; wave++) {
    for (let n = 0; n < COUNT; n++) expect((await send('tools/call', { name: 'quick' })).taskId).toBeDefined()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    // The store drops expired tasks when the next one is created.
    await send('tools/call', { name: 'quick' })
    used.push(await usedMemory())
  }
  const [first = 0, second = 0] = used
  expect(second - first).toBeLessThan(2_000_000)
  server.close()
}, 120_000)
