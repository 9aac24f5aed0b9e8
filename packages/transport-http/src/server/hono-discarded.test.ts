import { Hono, type MiddlewareHandler } from 'hono'
import { timeout } from 'hono/timeout'
import { describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { call, serve } from './hono-streams.fixture.ts'
import { gate, HandWritten, type Method } from './server.fixture.ts'

/** Middleware that replaces the stream of the endpoint. */
const instead: Record<string, MiddlewareHandler> = {
  'that throws after it': async (_context, next) => {
    await next()
    throw new Error('late')
  },
  'that puts another response in its place': async (context, next) => {
    await next()
    context.res = new Response('other', { status: 418 })
  },
  'that looks at its body, and puts another in its place': async (context, next) => {
    await next()
    if (context.res.body !== null) context.res = new Response('other', { status: 418 })
  },
  'that makes a response of the web of its body, and throws': async (context, next) => {
    await next()
    throw new Error(`late: ${new Response(context.res.body).status}`)
  },
}

async function statusOf(middleware: MiddlewareHandler, run: Method): Promise<number> {
  const app = new Hono().onError((error, context) => context.text(error.message, 500)).use(middleware)
  const port = await serve(app.route('/mcp', mcp(new HandWritten({ 'tools/call': run }))))
  const response = await call(port)
  await response.text()
  return response.status
}

describe("a call of an app on Hono's server for Node", () => {
  it.each(Object.keys(instead))('is aborted if a middleware discards its stream %s', async (which) => {
    const over = gate<string>()
    const status = await statusOf(instead[which] as MiddlewareHandler, async (_params, exchange) => {
      exchange.onClose?.((isHeard) => over.open(isHeard ? 'heard' : 'gone'))
      await exchange.notify('notifications/progress', { progressToken: 1, progress: 1 })
      return new Promise(() => {})
    })
    expect(status).toBeGreaterThan(400)
    expect(await over.promise).toBe('gone')
  })

  it('is aborted if a middleware has answered before', async () => {
    const aborted = gate()
    const status = await statusOf(timeout(50), async (_params, { signal }) => {
      signal.addEventListener('abort', () => aborted.open())
      return new Promise(() => {})
    })
    expect(status).toBe(500)
    await aborted.promise
  })

  it('continues if a middleware only inspects its stream', async () => {
    let isAborted = false
    const look: MiddlewareHandler = async (context, next) => {
      await next()
      if (context.res.body?.locked === true) throw new Error('locked')
    }
    const status = await statusOf(look, async (_params, exchange) => {
      await exchange.notify('notifications/progress', { progressToken: 1, progress: 1 })
      await new Promise((resolve) => setTimeout(resolve, 50))
      isAborted = exchange.signal.aborted
      return {}
    })
    expect([status, isAborted]).toEqual([200, false])
  })
})
