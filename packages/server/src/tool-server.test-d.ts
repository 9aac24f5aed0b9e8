/** What the compiler knows of servers of tools; checked by it, never run. */
import type { Catalogued, Context, Responder } from '@mcpx/protocol'
import { createJsonSchemaValidator } from '@mcpx/protocol/json-schema'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import {
  approve,
  audit,
  inputRequired,
  type Middleware,
  type Mountable,
  rateLimit,
  type ToolContext,
  timeout,
} from './index.ts'
import { createServer } from './server.ts'

const info = { name: 'test', version: '1' }

/** Tools are what they are in servers of all kinds, but for the context, which asks nothing. */
export const server = createServer(info, { validator: createJsonSchemaValidator(), cache: { tools: { ttlMs: 1 } } })
  .tool('add', { input: z.object({ a: z.number() }), output: z.object({ sum: z.number() }) }, ({ a }, ctx) => {
    expectTypeOf(a).toEqualTypeOf<number>()
    expectTypeOf(ctx).toEqualTypeOf<ToolContext>()
    ctx.progress(1)
    // @ts-expect-error a server of tools asks nothing
    ctx.elicit
    // @ts-expect-error
    ctx.sample
    // @ts-expect-error
    ctx.roots
    // @ts-expect-error
    ctx.openUrl
    // @ts-expect-error
    ctx.ask
    // @ts-expect-error
    ctx.step
    return { sum: a }
  })
  // @ts-expect-error nor is what a tool with output returns a question
  .tool('by hand', { output: z.object({}) }, () => inputRequired({}))
  .tool('raw', { input: { type: 'object' } }, (args) => {
    expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>()
  })

type Offers = typeof server extends Catalogued<infer Some> ? Some : never
declare const offers: Offers
expectTypeOf<(typeof offers)['tools']['add']['input']>().toEqualTypeOf<{ a: number }>()
expectTypeOf<(typeof offers)['tools']['add']['output']>().toEqualTypeOf<{ sum: number }>()

/** Carriers take it, and so do servers that it is mounted in. */
expectTypeOf(server).toExtend<Responder>()
expectTypeOf(server).toExtend<Mountable>()

/** What it does not have is no method of it, and no option. */
// @ts-expect-error
server.resource('a:b', {}, '')
// @ts-expect-error
server.prompt('p', {}, () => '')
// @ts-expect-error
server.mount('m', server)
// @ts-expect-error a handler is given to servers of all kinds
createServer(info, { callTool: () => ({ content: [] }) })
// @ts-expect-error nothing is sealed
createServer(info, { secrets: ['0123456789abcdef'] })
// @ts-expect-error nothing is sealed
createServer(info, { stateTtl: 1 })
// @ts-expect-error there are no prompts
createServer(info, { cache: { prompts: {} } })
// @ts-expect-error no call comes back
createServer(info, { limits: { rounds: 1 } })

/** A middleware that asks nothing can stand in both kinds of servers; one that may ask, in those of all kinds. */
declare const plain: Middleware<ToolContext>
declare const asking: Middleware
expectTypeOf(plain).toExtend<Middleware>()
server
  .use(plain)
  .use(audit(() => {}))
  .use(rateLimit({ limit: 1, windowMs: 1 }))
  .use(timeout(1))
server.use((request, ctx, next, findTool) => {
  expectTypeOf(ctx).toEqualTypeOf<ToolContext>()
  void findTool('t', ctx)
  return next(request, { ...ctx, auth: undefined })
})
// @ts-expect-error it may ask
server.use(asking)
// @ts-expect-error it asks
server.use(approve())

/** Whoever hears of faults is given the context of the tool. */
createServer(info, { onError: (_error, ctx) => expectTypeOf(ctx).toEqualTypeOf<ToolContext | undefined>() })
createServer(info, { onError: (_error: unknown, ctx: Pick<Context, 'auth'> | undefined) => void ctx })
