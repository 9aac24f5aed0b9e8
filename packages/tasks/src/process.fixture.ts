/** One process of a server, which tests kill: `node --conditions=source process.fixture.ts <database> <log> <name>`. Prints its URL. */

import { appendFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { createServer } from '@mcpx/server'
import { sqliteStore } from '@mcpx/store-sqlite'
import { serveHttp } from '@mcpx/transport-http/node'
import { z } from 'zod'
import { continueAsTask, tasks } from './index.ts'

const [database = '', log = '', name = ''] = process.argv.slice(2)
const write = (line: string) => appendFileSync(log, `${line} ${name}\n`)
const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    setTimeout(resolve, ms)
    signal.addEventListener('abort', () => reject(signal.reason))
  })

const server = createServer(
  { name: 'worker', version: '1.0.0' },
  {
    store: sqliteStore(new DatabaseSync(database), { pollInterval: 20 }),
    secrets: ['the same in every process'],
    extensions: [tasks({ inlineTime: 20, lease: 1_000, ttl: 60_000, pollInterval: 100 })],
  },
)
  // Charges, waits between two steps, asks, and ships.
  .tool('ship', { description: 'Ships', task: 'auto', resumable: true }, async (_, ctx) => {
    const charge = await ctx.step('charge', () => {
      write('charge')
      return `charged by ${name}`
    })
    write('between')
    await pause(300, ctx.signal)
    const answer = await ctx.elicit('approve', { message: 'Ship?', schema: z.object({ yes: z.boolean() }) })
    const parcel = await ctx.step('ship', () => {
      write('ship')
      return `shipped by ${name}`
    })
    return `${charge}, ${answer.content?.yes}, ${parcel}`
  })
  .tool('count', { description: 'Takes many steps', task: 'required', resumable: true }, async (_, ctx) => {
    for (let step = 0; step < 20; step++) {
      await ctx.step(`step ${step}`, async () => {
        write(`begin ${step}`)
        await pause(20, ctx.signal)
        write(`end ${step}`)
        return step
      })
    }
    return 'counted'
  })
  .tool('render', { description: 'Leaves its work to a queue', task: 'required' }, async (_, ctx) => {
    const task = await continueAsTask(ctx)
    write('queued')
    return task?.handOff()
  })
  .tool('once', { description: 'Is not resumable', task: 'required' }, async (_, ctx) => {
    write('once')
    await pause(60_000, ctx.signal)
    return 'never'
  })

const { url } = await serveHttp(server, { port: 0 })
process.stdout.write(`${url}\n`)
