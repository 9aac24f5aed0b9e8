/** What happens while a call runs: progress, log messages, cancellation, time limits. */

import { type Awaitable, type Context, LOGGING_LEVELS, type LoggingLevel } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { caught } from '@mcpx/testkit'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { textOf } from './calling-tools.ts'

const info = { name: 'flow', version: '1' }
const oneTool = (run: (ctx: Context) => Awaitable<string>) => createServer(info).tool('t', {}, (_args, ctx) => run(ctx))

/** Over HTTP a client says by closing the stream that it wants no more of it: in the modern era it says nothing else. */
const givenUp = { name: 'ConnectionError', reason: expect.stringMatching(/^(?:cancelled|closed)$/) }

/** A tool that never ends by itself, and what becomes of it. */
function endless() {
  let onStart = () => {}
  let onStop = (_reason: unknown) => {}
  const started = new Promise<void>((resolve) => {
    onStart = resolve
  })
  const stopped = new Promise<unknown>((resolve) => {
    onStop = resolve
  })
  const server = oneTool((ctx) => {
    onStart()
    return new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        onStop(ctx.signal.reason)
        reject(ctx.signal.reason)
      })
    })
  })
  return { server, started, stopped }
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
    await (await connect(server)).callTool('t', {}, { onProgress: ({ progress }) => void seen.push(progress) })
    expect(seen).toEqual([0, 0.5, 1, 2])
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

  async 'a cancelled call stops on both sides, and the connection goes on'({ connect }) {
    const { server, started, stopped } = endless()
    server.tool('other', {}, () => 'fine')
    const client = await connect(server)
    const stop = new AbortController()
    const call = caught(() => client.callTool('t', {}, { signal: stop.signal }))
    await started
    stop.abort()
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'cancelled' })
    expect(await stopped).toMatchObject(givenUp)
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
    expect(await call).toMatchObject({ reason: 'cancelled' })
    await client.callTool('t')
    expect(calls).toBe(1)
  },

  async 'a call that takes too long is given up, and the server is told'({ connect }) {
    const { server, stopped } = endless()
    const client = await connect(server)
    const call = caught(() => client.callTool('t', {}, { timeout: 20 }))
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'timeout' })
    expect(await stopped).toMatchObject(givenUp)
  },

  async 'closing the client ends its calls on both sides'({ connect }) {
    const { server, started, stopped } = endless()
    const client = await connect(server)
    const call = caught(() => client.callTool('t'))
    await started
    await client.close()
    expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    expect(await stopped).toMatchObject({ name: 'ConnectionError' })
    expect(await caught(() => client.callTool('t'))).toMatchObject({ reason: 'closed' })
  },
}
