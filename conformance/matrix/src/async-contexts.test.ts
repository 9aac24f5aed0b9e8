import { AsyncLocalStorage } from 'node:async_hooks'
import { REVISIONS } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type Carrier, carrierNames, exists } from './carriers.ts'
import { jsonOf } from './results.ts'
import { withRig } from './rig.ts'

/** Those that stay within the process from end to end: a pipe knows nothing of who writes to it. */
const carriers = ['objects', 'text', 'HTTP', 'HTTP without sessions', 'HTTP+SSE'] as const satisfies Carrier[]

const context = new AsyncLocalStorage<number>()

/** In whose context it began, and in whose it went on after each wait. */
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

/** It asks, logs and reports what it does. */
const talker = () =>
  createServer({ name: 'talker', version: '1' }).tool('talk', {}, async (_, ctx) => {
    await ctx.progress(1)
    await ctx.log.info('one')
    await ctx.roots()
    await ctx.progress(2)
    return 'said'
  })

describe.each(carrierNames)('the callbacks of a call, over %s', (carrier) => {
  it.each(REVISIONS.filter((each) => exists(carrier, each)))('run in the context of its caller: %s', (revision) =>
    withRig(revision, carrier, async ({ connect }) => {
      const isAsking = carrier !== 'HTTP without sessions'
      if (!isAsking) return
      const client = await connect(talker(), { roots: [], logLevel: 'info', onLog: () => {} })
      const calls = Array.from({ length: 10 }, (_, n) =>
        context.run(n, async () => {
          const seen = new Map<string, Set<number | undefined>>()
          const see = (what: string) => void seen.set(what, (seen.get(what) ?? new Set()).add(context.getStore()))
          await client.callTool('talk', undefined, {
            onProgress: () => see('progress'),
            onNotification: () => see('notification'),
            onLog: () => see('log'),
            onAsk() {
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

describe.each(carriers)('a server within the process, over %s', (carrier) => {
  it.each(REVISIONS.filter((each) => exists(carrier, each)))(
    'runs each of many calls in the context of its caller: %s',
    (revision) =>
      withRig(revision, carrier, async ({ connect }) => {
        const isAsking = carrier !== 'HTTP without sessions'
        const client = await connect(teller(isAsking), { roots: [{ uri: 'file:///a', name: '7' }] })
        const calls = Array.from({ length: 100 }, (_, n) =>
          context.run(n, async () => jsonOf(await client.callTool('whose', { from: 0 }, { onProgress: () => {} }))),
        )
        const wanted = (n: number) => (isAsking ? [n, n, n, 7, n, n] : [n, n, n, n])
        expect(await Promise.all(calls)).toEqual(calls.map((_, n) => wanted(n)))
      }),
  )
})
