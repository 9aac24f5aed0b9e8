import { connect, proxy } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { continueAsTask, tasks } from './index.ts'

it('a proxied task continues when its caller is asked, and sends the call again with the answer', async () => {
  let runs = 0
  const asked: string[] = []
  const schema = z.object({ yes: z.boolean() })
  const upstream = createServer({ name: 'shop', version: '1' }, { extensions: [tasks({ inlineTime: 1 })] })
    .tool('buy', { task: 'auto', resumable: true }, async (_, ctx) => {
      runs += 1
      await continueAsTask(ctx)
      const both = await Promise.all(['a', 'b'].map((key) => ctx.elicit(key, { message: key, schema })))
      const last = await ctx.elicit('c', { message: 'c', schema })
      return [...both, last].map(({ action }) => action).join()
    })
    .tool('plain', { task: 'auto' }, async (_, ctx) => (await ctx.elicit('q', { message: 'q', schema })).action)
  await using client = await connect(upstream, { capabilities: { elicitation: { form: {} } } })
  const front = createServer({ name: 'front', version: '1' }).mount('shop', proxy(client))
  await using caller = await connect(front, {
    onElicit({ message }) {
      asked.push(message)
      return { action: 'accept', content: { yes: true } }
    },
  })
  const { content } = await caller.callTool('shop.buy')
  expect(content).toEqual([{ type: 'text', text: 'accept,accept,accept' }])
  expect(runs).toBe(1)
  expect(asked.sort()).toEqual(['a', 'b', 'c'])
  expect((await caller.callTool('shop.plain')).content).toEqual([{ type: 'text', text: 'accept' }])
  upstream.close()
})

it.each(['modern', 'legacy'] as const)('a proxied task is cancelled with its %s caller', async (era) => {
  const ended: unknown[] = []
  const upstream = createServer({ name: 'shop', version: '1' }, { extensions: [tasks({ inlineTime: 1 })] })
  upstream.tool('wait', { task: 'auto' }, async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    ended.push(signal.reason.reason)
    return ''
  })
  await using client = await connect(upstream)
  const front = createServer({ name: 'front', version: '1' }).mount('shop', proxy(client))
  await using caller = await connect(front, { era })
  const stop = new AbortController()
  const call = caller.callTool('shop.wait', {}, { signal: stop.signal })
  setTimeout(() => stop.abort(), 100)
  await expect(call).rejects.toMatchObject({ reason: 'cancelled' })
  await expect.poll(() => ended).toEqual(['cancelled'])
  upstream.close()
})
