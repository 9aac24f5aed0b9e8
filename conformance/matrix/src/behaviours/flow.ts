/** What happens while a call runs: progress, log messages, cancellation, time limits. */

import { type Awaitable, type Context, LOGGING_LEVELS, type LoggingLevel } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { caught, settled } from '@mcpx/testing'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { moment } from '../moment.ts'
import { textOf } from '../results.ts'
import type { Rig } from '../rig.ts'
import { tap } from '../tap.ts'

const info = { name: 'flow', version: '1' }
const oneTool = (run: (ctx: Context) => Awaitable<string>) => createServer(info).tool('t', {}, (_args, ctx) => run(ctx))

/** Over HTTP a modern client says by leaving that it wants no more of a call, and nothing else. */
const givenUp = ({ era, oneByOne }: Rig) => ({
  name: 'ConnectionError',
  reason: era === 'modern' && oneByOne ? 'closed' : 'cancelled',
})

/** A tool that never ends by itself, and what becomes of it. */
function endless({ soon }: Rig) {
  const [start, stop] = [moment<void>(), moment<unknown>()]
  let stops = 0
  const server = oneTool((ctx) => {
    start.happen()
    return new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        stops += 1
        stop.happen(ctx.signal.reason)
        reject(ctx.signal.reason)
      })
    })
  })
  return {
    server,
    started: () => soon('the call', start.come),
    stopped: () => soon('that the tool is told to stop', stop.come),
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

  async 'progress that is not awaited arrives too, and what does not grow is dropped'({ connect }) {
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

  async 'progress that nobody asked for is not sent'({ connect }) {
    const seen: string[] = []
    const server = oneTool(async (ctx) => {
      await ctx.progress(1)
      return JSON.stringify(ctx.meta.progressToken ?? null)
    })
    const client = await connect(server)
    expect(textOf(await client.callTool('t', {}))).toBe('null')
    await client.callTool('t', {}, { onNotification: ({ method }) => void seen.push(method) })
    expect(seen).toEqual(['notifications/progress'])
  },

  async 'progress of calls that run at once goes to each its own'({ connect }) {
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

  async 'log messages come from the level on that was asked for, before the result'({ connect }) {
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

  async 'the level can be changed, and a call can have its own hearer'({ connect }) {
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

  async 'a client that does not listen to logs loses nothing but them'({ connect }) {
    const server = oneTool(async (ctx) => {
      await ctx.log.emergency('fire')
      return 'done'
    })
    expect(textOf(await (await connect(server)).callTool('t'))).toBe('done')
  },

  async 'a cancelled call stops on both sides, and the connection goes on'(rig) {
    const { server, started, stopped } = endless(rig)
    server.tool('other', {}, () => 'fine')
    const client = await rig.connect(server)
    const stop = new AbortController()
    const call = caught(() => client.callTool('t', {}, { signal: stop.signal }))
    await started()
    stop.abort()
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'cancelled' })
    expect(await stopped()).toMatchObject(givenUp(rig))
    expect(textOf(await client.callTool('other'))).toBe('fine')
  },

  async 'a call that was cancelled before it began is not sent'({ connect }) {
    let calls = 0
    const server = oneTool(() => {
      calls += 1
      return 'done'
    })
    const client = await connect(server)
    const call = caught(() => client.callTool('t', {}, { signal: AbortSignal.abort() }))
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'cancelled' })
    expect(textOf(await client.callTool('t'))).toBe('done')
    expect(calls).toBe(1)
  },

  async 'one of several calls is cancelled, and the others go on'(rig) {
    const { server, started, stopped, counts } = endless(rig)
    const goOn = moment<void>()
    server.tool('other', {}, async () => {
      await goOn.come
      return 'fine'
    })
    const client = await rig.connect(server)
    const stop = new AbortController()
    const others = [client.callTool('other'), client.callTool('other')]
    const call = caught(() => client.callTool('t', {}, { signal: stop.signal }))
    const neighbour = caught(() => client.callTool('t'))
    await started()
    stop.abort()
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'cancelled' })
    await stopped()
    goOn.happen()
    expect((await Promise.all(others)).map(textOf)).toEqual(['fine', 'fine'])
    expect(counts.stops).toBe(1)
    await client.close()
    expect(await neighbour).toMatchObject({ reason: 'closed' })
  },

  async 'a call that takes too long is given up, and the server is told'(rig) {
    const { server, stopped } = endless(rig)
    const client = await rig.connect(server)
    const call = caught(() => client.callTool('t', {}, { timeout: 20 }))
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(await stopped()).toMatchObject(givenUp(rig))
  },

  async 'what a handler says after its answer is not sent'({ connectOver, reach }) {
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
    const { tapped, sent } = tap(reach(server).connector)
    const client = await connectOver(tapped, { onLog: ({ data }) => void seen.push(data) })
    const options = { onProgress: ({ progress }: { progress: number }) => void seen.push(progress) }
    for (const tool of ['silent', 'talking']) expect(textOf(await client.callTool(tool, {}, options))).toBe('done')
    for (const ctx of late) {
      await ctx.progress(2)
      await ctx.log.error('late')
    }
    expect(textOf(await client.callTool('silent'))).toBe('done')
    await settled()
    expect(seen).toEqual([1])
    expect(sent.map(({ method }) => method)).toEqual(['notifications/progress'])
  },

  async 'closing the client ends its calls on both sides'(rig) {
    const { server, started, stopped } = endless(rig)
    const client = await rig.connect(server)
    const call = caught(() => client.callTool('t'))
    await started()
    await client.close()
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    expect(await stopped()).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    expect(await caught(() => client.callTool('t'))).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
  },
}
