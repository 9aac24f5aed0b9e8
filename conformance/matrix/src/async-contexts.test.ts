import { AsyncLocalStorage } from 'node:async_hooks'
import { REVISIONS } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { jsonOf } from './results.ts'
import { withRig } from './rig.ts'
import { supports, type TransportName, transportNames } from './transports.ts'

/** The transports that preserve the async context. A pipe does not preserve it. */
const transports = ['objects', 'text', 'HTTP', 'HTTP without sessions', 'HTTP+SSE'] as const satisfies TransportName[]

const context = new AsyncLocalStorage<number>()

/** A server whose tool returns its async contexts: at its start and after each await. */
function teller(isAsking: boolean) {
  return createServer({ name: 'teller', version: '1' })
    .use(({ method, params }, ctx, next) => {
      if (method !== 'tools/call') return next()
      const from = context.getStore()
      return next({ method, params: { ...params, arguments: { from } } }, ctx)
    })
    .tool('whose', { input: z.object({ from: z.number() }) }, async ({ from }, ctx) => {
      const seen = [from, context.getStore()]
      await ctx.progress(1)
      seen.push(context.getStore())
      if (isAsking) seen.push(Number((await ctx.roots())[0]?.name), context.getStore())
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
      return JSON.stringify([...seen, context.getStore()])
    })
}

/** A server whose tool reports progress, logs and sends an input request. */
const talker = () =>
  createServer({ name: 'talker', version: '1' }).tool('talk', {}, async (_, ctx) => {
    await ctx.progress(1)
    await ctx.log.info('one')
    await ctx.roots()
    await ctx.progress(2)
    return 'done'
  })

describe.each(transportNames)('the callbacks of a call over %s', (transport) => {
  it.each(REVISIONS.filter((each) => supports(transport, each)))(
    'run in the async context of the caller in %s',
    (revision) =>
      withRig(revision, transport, async ({ connect }) => {
        const isAsking = transport !== 'HTTP without sessions'
        if (!isAsking) return
        const client = await connect(talker(), { roots: [], logLevel: 'info', onLog: () => {} })
        const calls = Array.from({ length: 10 }, (_, n) =>
          context.run(n, async () => {
            const seen = new Map<string, Set<number | undefined>>()
            const see = (callback: string) =>
              void seen.set(callback, (seen.get(callback) ?? new Set()).add(context.getStore()))
            await client.callTool('talk', undefined, {
              onProgress: () => see('progress'),
              onNotification: () => see('notification'),
              onLog: () => see('log'),
              onInputRequest() {
                see('ask')
                return { roots: [] }
              },
            })
            return seen
          }),
        )
        for (const [n, seen] of (await Promise.all(calls)).entries()) {
          expect([...seen.keys()]).toEqual(expect.arrayContaining(['ask', 'notification', 'progress']))
          for (const contexts of seen.values()) expect([...contexts]).toEqual([n])
        }
      }),
  )
})

describe.each(transports)('a server in the same process over %s', (transport) => {
  it.each(REVISIONS.filter((each) => supports(transport, each)))(
    'runs each concurrent call in the async context of its caller in %s',
    (revision) =>
      withRig(revision, transport, async ({ connect }) => {
        const isAsking = transport !== 'HTTP without sessions'
        const client = await connect(teller(isAsking), { roots: [{ uri: 'file:///a', name: '7' }] })
        const calls = Array.from({ length: 100 }, (_, n) =>
          context.run(n, async () => jsonOf(await client.callTool('whose', { from: 0 }, { onProgress: () => {} }))),
        )
        const wanted = (n: number) => (isAsking ? [n, n, n, 7, n, n] : [n, n, n, n])
        expect(await Promise.all(calls)).toEqual(calls.map((_, n) => wanted(n)))
      }),
  )
})
