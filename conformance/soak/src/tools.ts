/** The server under load: tools, resources and prompts that use every part of the protocol. */

import process from 'node:process'
import type { ServerLoad, Store } from '@mcpx/protocol'
import { createServer, type Server, ToolError } from '@mcpx/server'
import { tasks } from '@mcpx/tasks'
import * as z from 'zod'
import type { Held } from './processes.ts'

/**
 * Defects that a run must find. With each second, `heap` keeps a megabyte, `handles` leaves a timer, and `slow` needs more
 * processor time for each message, so that they do not depend on the rate of operations. `sessions` keeps
 * the sessions of clients that vanish, `lost` never responds to each hundredth call, and `unnamed` fails each tenth call
 * with an unexpected error.
 */
export const DEFECTS = ['heap', 'handles', 'sessions', 'slow', 'lost', 'unnamed'] as const
export type Defect = (typeof DEFECTS)[number]

/** The number of resources that clients read: `note://0`, `note://1` and so on. */
export const NOTES = 20
/** The resources that listeners watch. */
export const WATCHED: readonly string[] = Array.from({ length: 10 }, (_, n) => `watched://${n}`)
const MEGABYTE = 1024 * 1024

/** The length of a large result, in characters. */
export const LARGE = 300_000

export interface LoadedServer {
  readonly server: Server
  /** The number of handlers that run. */
  readonly running: () => number
  /** The number of messages so far. */
  readonly messages: () => number
  /** The load of the endpoints. */
  readonly load: () => Pick<Held, 'requests' | 'streams'>
}

interface LoadedServerOptions {
  readonly store?: Store | undefined
  readonly defects: readonly Defect[]
  /** Called with faults of handlers and stores. */
  readonly onError: (error: unknown) => void
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export function createLoadedServer({ store, defects, onError }: LoadedServerOptions): LoadedServer {
  let running = 0
  let messages = 0
  let added = 0
  const { spoilMessage, spoilCall } = createDefects(defects)
  const loads: (() => ServerLoad)[] = []
  const sum = (member: 'requests' | 'streams') => loads.reduce((total, read) => total + (read()[member] ?? 0), 0)
  const server: Server = createServer(
    { name: 'soak', version: '1.0.0' },
    {
      store,
      secrets: ['known to all processes of the soak test'],
      onError,
      pageSize: 10,
      telemetry: {
        // Only the load is read, so messages take the same path as without the option.
        isActive: false,
        onServe(readLoad) {
          loads.push(readLoad)
          return () => {}
        },
      },
      extensions: [tasks({ inlineTime: 20, pollInterval: 200, ttl: 60_000, lease: 3_000 })],
    },
  )
  server.use(async (_message, _ctx, next) => {
    running += 1
    messages += 1
    spoilMessage()
    try {
      return await next()
    } finally {
      running -= 1
    }
  })
  server
    .tool('echo', { input: z.object({ text: z.string() }) }, async ({ text }) => {
      await spoilCall()
      return text
    })
    .tool(
      'sum',
      { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
      (args) => ({
        sum: args.a + args.b,
      }),
    )
    .tool('large', { input: z.object({ size: z.number() }) }, ({ size }) => 'x'.repeat(size))
    .tool('fail', {}, () => {
      throw new ToolError('It failed.')
    })
    .tool('count', { input: z.object({ times: z.number() }) }, async ({ times }, ctx) => {
      for (let n = 1; n <= times && !ctx.signal.aborted; n++) {
        await ctx.progress(n, times)
        await ctx.log.info(`step ${n}`)
        await pause(5)
      }
      return 'counted'
    })
    .tool('ask', {}, async (_args, ctx) => {
      const schema = z.object({ name: z.string() })
      const first = await ctx.elicit('first', { message: 'The first name?', schema })
      const second = await ctx.elicit('second', { message: 'The second name?', schema })
      return `${first.content?.name} ${second.content?.name}`
    })
    .tool('wait', {}, (_args, { signal }) => {
      return new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('aborted')))
    })
    .tool('work', { task: 'auto', resumable: true }, async (_args, ctx) => {
      await pause(100)
      const part = await ctx.step('part', () => 'one part')
      await pause(100)
      return part
    })
    .tool('touch', { input: z.object({ uri: z.string() }) }, ({ uri }) => {
      server.resourceUpdated(uri)
      return 'touched'
    })
    .tool('grow', {}, () => {
      added += 1
      const name = `added-${added}`
      server.tool(name, {}, () => '')
      server.removeTool(name)
      return name
    })
    .prompt('greet', { args: z.object({ name: z.string() }), complete: { name: ['Ada', 'Grace'] } }, ({ name }) => name)
  for (let n = 0; n < NOTES; n++) server.resource(`note://${n}`, { subscribe: true }, `note ${n}`)
  for (const uri of WATCHED) server.resource(uri, { subscribe: true }, uri)
  return {
    server,
    running: () => running,
    messages: () => messages,
    load: () => ({ requests: sum('requests'), streams: sum('streams') }),
  }
}

function createDefects(defects: readonly Defect[]) {
  const kept: object[] = []
  const has = (defect: Defect) => defects.includes(defect)
  const begin = performance.now()
  let timers = 0
  let calls = 0
  return {
    /** Runs for each message. */
    spoilMessage(): void {
      const seconds = (performance.now() - begin) / 1_000
      for (; has('heap') && kept.length < seconds; ) kept.push(Array.from({ length: MEGABYTE / 8 }, (_, n) => n + 0.5))
      for (; has('handles') && timers < seconds; timers++) setInterval(() => {}, 60_000)
      for (const start = process.cpuUsage(); has('slow') && process.cpuUsage(start).user < seconds ** 2 * 10; );
    },
    /** Runs for each plain call. */
    async spoilCall(): Promise<void> {
      calls += 1
      if (has('lost') && calls % 100 === 0) await new Promise(() => {})
      if (has('unnamed') && calls % 10 === 0) throw new TypeError('an error without a name')
    },
  }
}
