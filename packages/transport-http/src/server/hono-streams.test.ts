import { Hono, type MiddlewareHandler } from 'hono'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { call, callByHand, readTold, serve, talking } from './hono-streams.fixture.ts'
import { gate, HandWritten } from './server.fixture.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1)

const around: Record<string, MiddlewareHandler> = {
  'that sets headers before and after': async (context, next) => {
    context.res.headers.set('x-before', 'yes')
    await next()
    context.res.headers.set('x-after', 'yes')
  },
  'that puts another response in its place': async (context, next) => {
    await next()
    const { body, headers } = context.res
    context.res = undefined
    context.res = new Response(body, {
      headers: { ...Object.fromEntries(headers), 'x-before': 'yes', 'x-after': 'yes' },
    })
  },
  'that has looked at it': async (context, next) => {
    await next()
    if (context.res.body?.locked === false) context.header('x-before', 'yes')
    context.header('x-after', 'yes')
  },
}

describe("a stream of an app on Hono's server for Node", () => {
  it.each(Object.keys(around))('is complete behind a middleware %s', async (which) => {
    const app = new Hono().use(around[which] as MiddlewareHandler).route('/mcp', mcp(talking(50, 1_000).server))
    const response = await call(await serve(app))
    expect([response.headers.get('x-before'), response.headers.get('x-after')]).toEqual(['yes', 'yes'])
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(readTold(await response.text())).toEqual({ progress: upTo(50), result: { told: 50 } })
  })

  it('joins the events of one turn into one chunk', async () => {
    const socket = callByHand(await serve(mcp(talking(200, 10).server)))
    let text = ''
    for await (const part of socket) {
      text += part
      if (text.includes('\r\n0\r\n')) break
    }
    expect(readTold(text).progress).toEqual(upTo(200))
    expect(text.match(/^[0-9a-f]+\r$/gm)?.length).toBeLessThan(20)
  })

  it('is limited by the speed of its client, and complete', async () => {
    const { server, told } = talking(2_000, 10_000)
    const socket = callByHand(await serve(mcp(server)))
    await expect.poll(() => told.count).toBeGreaterThan(1)
    let before = -1
    while (before !== told.count) {
      before = told.count
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(told.count).toBeLessThan(2_000)
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.resume()
    await expect.poll(() => text.includes('"told":2000'), { timeout: 4_000 }).toBe(true)
  })

  it('is cut if too much is unread', async () => {
    const reports: string[] = []
    const aborted = gate<string>()
    const server = new HandWritten({
      'tools/call': (_params, exchange) => {
        exchange.signal.addEventListener('abort', () => aborted.open(exchange.signal.reason.message))
        const timer = setInterval(() => {
          for (let n = 0; n < 20; n++)
            void exchange.notify('notifications/progress', {
              progressToken: 1,
              progress: n,
              message: 'x'.repeat(100_000),
            })
        }, 1)
        void aborted.promise.then(() => clearInterval(timer))
        return new Promise(() => {})
      },
    })
    const report = (problem: Error) => void reports.push(problem.message)
    callByHand(await serve(mcp(server, { limits: { unsent: 500_000 }, onWarning: report })))
    expect(await aborted.promise).toContain('500000 bytes unread')
    expect(reports).toEqual([expect.stringContaining('limits.unsent')])
  })

  it('is released if its client disconnects before it starts', async () => {
    const gone = gate()
    const begin = gate()
    const called = gate()
    const server = new HandWritten({
      'tools/call': async (_params, exchange) => {
        called.open()
        await begin.promise
        await exchange.notify('notifications/progress', { progressToken: 1, progress: 1 })
        if (exchange.signal.aborted) gone.open()
        else exchange.signal.addEventListener('abort', () => gone.open())
        return new Promise(() => {})
      },
    })
    const socket = callByHand(await serve(mcp(server)))
    await called.promise
    socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 50))
    begin.open()
    await gone.promise
  })
})
