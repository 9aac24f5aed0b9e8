/** Progress, log messages, cancellation and timeouts of running calls. */

import { type Awaitable, type Context, LOGGING_LEVELS, type LoggingLevel } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { catchError, waitForTasks } from '@mcpx/testing'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { deferred } from '../deferred.ts'
import { textOf } from '../results.ts'
import { type Rig, recordNotifications } from '../rig.ts'

const info = { name: 'flow', version: '1' }
const oneTool = (run: (ctx: Context) => Awaitable<string>) => createServer(info).tool('t', {}, (_args, ctx) => run(ctx))

/** The abort reason of a cancelled call. Over HTTP a modern client cancels by closing the response. */
const cancellationOf = ({ era, separateRequests }: Rig) => ({
  name: 'ConnectionError',
  reason: era === 'modern' && separateRequests ? 'closed' : 'cancelled',
})

/** A server with a tool that runs until it is cancelled, and promises for its start and its end. */
function createEndlessServer({ waitFor }: Rig) {
  const [start, stop] = [deferred<void>(), deferred<unknown>()]
  let stops = 0
  const server = oneTool((ctx) => {
    start.resolve()
    return new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        stops += 1
        stop.resolve(ctx.signal.reason)
        reject(ctx.signal.reason)
      })
    })
  })
  return {
    server,
    started: () => waitFor('the call', start.promise),
    stopped: () => waitFor('the abort signal of the tool', stop.promise),
    counts: {
      get stops() {
        return stops
      },
    },
  }
}

export const flow: Behaviours = {
  async 'progress arrives in order, before the result'({ connect, revision }) {
    const server = oneTool(async (ctx) => {
      for (let done = 1; done <= 100; done += 1) await ctx.progress(done, 100, `step ${done}`)
      return 'done'
    })
    const client = await connect(server)
    const seen: unknown[] = []
    const call = client.callTool('t', {}, { onProgress: (progress) => void seen.push(progress) })
    seen.push(textOf(await call))
    const steps = Array.from({ length: 100 }, (_, index) => ({
      progress: index + 1,
      total: 100,
      ...(revision >= '2025-03-26' && { message: `step ${index + 1}` }),
    }))
    expect(seen).toEqual([...steps, 'done'])
  },

  async 'progress that is not awaited arrives, and progress that does not increase is dropped'({ connect }) {
    const server = oneTool((ctx) => {
      for (const done of [0, 0.5, 0.5, 0.2, 1, 2]) void ctx.progress(done)
      return 'done'
    })
    const seen: unknown[] = []
    const client = await connect(server)
    const call = client.callTool('t', {}, { onProgress: ({ progress }) => void seen.push(progress) })
    seen.push(textOf(await call))
    expect(seen).toEqual([0, 0.5, 1, 2, 'done'])
  },

  async 'progress is not sent unless the client requests it'({ connect }) {
    const seen: string[] = []
    const server = oneTool(async (ctx) => {
      await ctx.progress(1)
      return JSON.stringify(ctx.meta.progressToken ?? null)
    })
    const client = await connect(server)
    const timeout = Number.POSITIVE_INFINITY
    expect(textOf(await client.callTool('t', {}, { timeout }))).toBe('null')
    await client.callTool('t', {}, { timeout, onNotification: ({ method }) => void seen.push(method) })
    expect(seen).toEqual(['notifications/progress'])
  },

  async 'each concurrent call receives its own progress'({ connect }) {
    const server = createServer(info).tool('t', { input: { type: 'object' } }, async ({ n }, ctx) => {
      for (let done = 1; done <= 5; done += 1) await ctx.progress(Number(n) * 10 + done)
      return 'done'
    })
    const client = await connect(server)
    const calls = Array.from({ length: 20 }, async (_, n) => {
      const seen: number[] = []
      await client.callTool('t', { n }, { onProgress: ({ progress }) => void seen.push(progress) })
      return seen
    })
    const all = await Promise.all(calls)
    expect(all).toEqual(all.map((_, n) => [1, 2, 3, 4, 5].map((done) => n * 10 + done)))
  },

  async 'log messages at or above the requested level arrive before the result'({ connect }) {
    const server = oneTool(async (ctx) => {
      for (const level of LOGGING_LEVELS) await ctx.log[level]({ at: level }, 'db')
      return 'done'
    })
    const seen: unknown[] = []
    const client = await connect(server, { logLevel: 'warning', onLog: (entry) => void seen.push(entry) })
    seen.push(textOf(await client.callTool('t')))
    const levels: LoggingLevel[] = ['warning', 'error', 'critical', 'alert', 'emergency']
    expect(seen).toEqual([...levels.map((level) => ({ level, logger: 'db', data: { at: level } })), 'done'])
  },

  async 'the log level can be changed, and a call can have its own onLog'({ connect }) {
    const server = oneTool(async (ctx) => {
      await ctx.log.debug('d')
      await ctx.log.error('e')
      return 'done'
    })
    const seen: unknown[] = []
    const own: unknown[] = []
    const client = await connect(server, { onLog: ({ data }) => void seen.push(data) })
    await client.callTool('t')
    await client.setLogLevel('debug')
    await client.callTool('t')
    await client.callTool('t', {}, { onLog: ({ data }) => void own.push(data) })
    expect(seen).toEqual(['e', 'd', 'e'])
    expect(own).toEqual(['d', 'e'])
  },

  async 'a client without onLog receives the result'({ connect }) {
    const server = oneTool(async (ctx) => {
      await ctx.log.emergency('fire')
      return 'done'
    })
    expect(textOf(await (await connect(server)).callTool('t'))).toBe('done')
  },

  async 'a cancelled call stops on both sides, and the connection stays usable'(rig) {
    const { server, started, stopped } = createEndlessServer(rig)
    server.tool('other', {}, () => 'fine')
    const client = await rig.connect(server)
    const stop = new AbortController()
    const call = catchError(() => client.callTool('t', {}, { signal: stop.signal }))
    await started()
    stop.abort()
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'cancelled' })
    expect(await stopped()).toMatchObject(cancellationOf(rig))
    expect(textOf(await client.callTool('other'))).toBe('fine')
  },

  async 'a call with an aborted signal is not sent'({ connect }) {
    let calls = 0
    const server = oneTool(() => {
      calls += 1
      return 'done'
    })
    const client = await connect(server)
    const call = catchError(() => client.callTool('t', {}, { signal: AbortSignal.abort() }))
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'cancelled' })
    expect(textOf(await client.callTool('t'))).toBe('done')
    expect(calls).toBe(1)
  },

  async 'cancelling one of several calls does not affect the others'(rig) {
    const { server, started, stopped, counts } = createEndlessServer(rig)
    const proceed = deferred<void>()
    server.tool('other', {}, async () => {
      await proceed.promise
      return 'fine'
    })
    const client = await rig.connect(server)
    const stop = new AbortController()
    const others = [client.callTool('other'), client.callTool('other')]
    const call = catchError(() => client.callTool('t', {}, { signal: stop.signal }))
    const secondCall = catchError(() => client.callTool('t'))
    await started()
    stop.abort()
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'cancelled' })
    await stopped()
    proceed.resolve()
    expect((await Promise.all(others)).map(textOf)).toEqual(['fine', 'fine'])
    expect(counts.stops).toBe(1)
    await client.close()
    expect(await secondCall).toMatchObject({ reason: 'closed' })
  },

  async 'a call that times out is cancelled on the server'(rig) {
    const { server, stopped } = createEndlessServer(rig)
    const client = await rig.connect(server)
    const call = catchError(() => client.callTool('t', {}, { timeout: 20 }))
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(await stopped()).toMatchObject(cancellationOf(rig))
  },

  async 'messages of a handler after its result are not sent'({ connectOver, open }) {
    const late: Context[] = []
    const server = createServer(info)
      .tool('silent', {}, (_args, ctx) => {
        late.push(ctx)
        return 'done'
      })
      .tool('talking', {}, async (_args, ctx) => {
        late.push(ctx)
        await ctx.progress(1)
        return 'done'
      })
    const seen: unknown[] = []
    const { recording, notifications } = recordNotifications(open(server).connector)
    const client = await connectOver(recording, { onLog: ({ data }) => void seen.push(data) })
    const options = { onProgress: ({ progress }: { progress: number }) => void seen.push(progress) }
    for (const tool of ['silent', 'talking']) expect(textOf(await client.callTool(tool, {}, options))).toBe('done')
    for (const ctx of late) {
      await ctx.progress(2)
      await ctx.log.error('late')
    }
    expect(textOf(await client.callTool('silent'))).toBe('done')
    await waitForTasks()
    expect(seen).toEqual([1])
    expect(notifications.map(({ method }) => method)).toEqual(['notifications/progress'])
  },

  async 'closing the client ends its calls on both sides'(rig) {
    const { server, started, stopped } = createEndlessServer(rig)
    const client = await rig.connect(server)
    const call = catchError(() => client.callTool('t'))
    await started()
    await client.close()
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    expect(await stopped()).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    expect(await catchError(() => client.callTool('t'))).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
  },
}
