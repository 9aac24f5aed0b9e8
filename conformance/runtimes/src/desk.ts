/** The server that every runtime serves, with every feature that may depend on the runtime. */

import { createServer, ToolError } from '@mcpx/server'
import { z } from 'zod'

const counters = new Map<string, number>()
const started = new Set<string>()
const cancelled = new Set<string>()
const charges = new Map<string, number>()

const Key = z.object({ key: z.string() })
const Wait = Key.extend({ ballast: z.string().optional(), isSilent: z.boolean().optional() })

export const desk = createServer({ name: 'desk', version: '1.0.0' })
  .tool(
    'add',
    {
      description: 'Adds two numbers',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ sum: a + b }),
  )
  .tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
  .tool('count', { input: z.object({ to: z.number().int().max(100) }) }, async ({ to }, ctx) => {
    for (let n = 1; n <= to; n += 1) {
      await ctx.progress(n, to)
      await delay(5)
    }
    await ctx.log.info('counted')
    return `counted to ${to}`
  })
  .tool('book', { input: z.object({ to: z.string() }) }, async ({ to }, ctx) => {
    await ctx.step('charge', () => void charges.set(to, (charges.get(to) ?? 0) + 1))
    const seat = await ctx.elicit('seat', { message: 'Which row?', schema: z.object({ row: z.number().int() }) })
    if (seat.action !== 'accept') return 'Nothing was booked.'
    return `Row ${seat.content.row} to ${to}, charged ${charges.get(to)} time`
  })
  .tool('wait', { description: 'Runs until it is cancelled', input: Wait }, async ({ key, isSilent }, ctx) => {
    started.add(key)
    for (let n = 1; !ctx.signal.aborted; n += 1) {
      if (!isSilent) await ctx.progress(n)
      await delay(20)
    }
    cancelled.add(key)
    return 'cancelled'
  })
  .tool('see', { input: Key, output: z.object({ started: z.boolean(), cancelled: z.boolean() }) }, ({ key }) => ({
    started: started.has(key),
    cancelled: cancelled.has(key),
  }))
  .tool('fail', {}, () => {
    throw new ToolError('There is no more paper.')
  })
  .tool('break', {}, () => {
    throw new Error('the password is hunter2')
  })
  .tool('bump', { input: Key }, ({ key }) => {
    counters.set(key, (counters.get(key) ?? 0) + 1)
    desk.resourceUpdated(`counter://${key}`)
    return 'bumped'
  })
  .resource('counter://{key}', { mimeType: 'application/json', subscribe: true }, ({ key }) => ({
    count: counters.get(key) ?? 0,
  }))
  .resource('picture://dot', { mimeType: 'application/octet-stream' }, () => new Uint8Array([0, 127, 128, 255]))
  .prompt('review', { args: z.object({ code: z.string() }) }, ({ code }) => `Review this:\n${code}`)

export type Desk = typeof desk

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
