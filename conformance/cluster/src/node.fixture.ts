/** A node of the cluster: `node --conditions=source node.fixture.ts <options as JSON>`. It sends its URL over IPC. */

import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createServer, type Server } from '@mcpx/server'
import { redisStore } from '@mcpx/store-redis'
import { tasks } from '@mcpx/tasks'
import { serveHttp } from '@mcpx/transport-http/node'
import { createClient } from '@redis/client'

export interface NodeOptions {
  /** The port of Redis. */
  readonly redis: number
  /** The port to listen on. Default: any. */
  readonly port?: number
  /** How long sessions are kept after their last request, in ms. */
  readonly sessionTtl: number
  /** How long the events of a stream are kept, in ms. */
  readonly eventTtl: number
  /** How long a command may take, in ms. */
  readonly storeTimeout: number
  /** The interval of comments on open streams, in ms. Sessions are refreshed at the same interval. */
  readonly keepAlive: number
  /** The time after the last heartbeat of a node after which another node continues its tasks, in ms. */
  readonly taskLease: number
  /** How long tasks are kept, in ms. */
  readonly taskTtl: number
  /** A file to which the steps of tasks are written. */
  readonly ledger: string
}

/** The number of resources that clients can subscribe to: `note://0`, `note://1` and so on. */
export const RESOURCES = 160

/** A resource that no tool changes. Clients are notified of it only after a gap, when everything may have changed. */
export const NEVER_CHANGED = 'note://never'

/** A resource whose URI has the characters that strings of commands and queries escape. */
export const QUOTED = "note://quoted/');--$1%22%0d%0a☃"

const counting = { type: 'object', properties: { times: { type: 'integer' }, pause: { type: 'number' } } } as const
const working = {
  type: 'object',
  properties: { key: { type: 'string' }, steps: { type: 'integer' }, pause: { type: 'number' } },
} as const
const logging = { type: 'object', properties: { text: { type: 'string' }, after: { type: 'number' } } } as const
const naming = { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] } as const

async function main(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const options = JSON.parse(process.argv[2] ?? '{}') as NodeOptions
  const redis = createClient({ socket: { host: '127.0.0.1', port: options.redis, reconnectStrategy: 50 } })
  redis.on('error', () => {})
  await redis.connect()
  const store = redisStore(redis, { eventTtl: options.eventTtl, timeout: options.storeTimeout })
  const secrets = ['known to all nodes of the cluster']
  const problems = new Map<string, number>()
  const note = (problem: unknown) => {
    const text = String(problem)
      .replaceAll(/[0-9a-f-]{16,}/g, '…')
      .slice(0, 200)
    problems.set(text, (problems.get(text) ?? 0) + 1)
  }
  const server = createServer(
    { name: 'node', version: '1.0.0' },
    {
      store,
      secrets,
      onError: note,
      extensions: [tasks({ lease: options.taskLease, ttl: options.taskTtl, pollInterval: 100 })],
    },
  ) as unknown as Server
  let added = 0
  server
    .tool('who', {}, () => String(process.pid))
    .tool('ask', {}, async (_args, ctx) => {
      const schema = { type: 'object', properties: { name: { type: 'string' } } } as const
      const { action } = await ctx.elicit('name', { message: 'Who?', schema })
      return `${action} received by ${process.pid}`
    })
    .tool('count', { input: counting }, async (args, ctx) => {
      const { times, pause = 0 } = args as { times: number; pause?: number }
      for (let n = 1; n <= times && !ctx.signal.aborted; n++) {
        await ctx.progress(n, times)
        if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
      }
      return `counted by ${process.pid}`
    })
    .tool('log', { input: logging }, async (args, ctx) => {
      const { text, after = 0 } = args as { text: string; after?: number }
      await new Promise((resolve) => setTimeout(resolve, after))
      await ctx.log.info(text)
      return ''
    })
    .tool('touch', { input: naming }, async (args) => {
      server.resourceUpdated((args as { uri: string }).uri)
      return String(process.pid)
    })
    .tool('work', { input: working, task: 'required', resumable: true }, async (args, ctx) => {
      const { key, steps, pause } = args as { key: string; steps: number; pause: number }
      const nodes: number[] = []
      for (let n = 0; n < steps; n++) {
        const node = await ctx.step(`step ${n}`, async () => {
          appendFileSync(options.ledger, `${key} ${n}\n`)
          await new Promise((resolve) => setTimeout(resolve, pause))
          return process.pid
        })
        nodes.push(node)
      }
      return nodes.join(' ')
    })
    .tool('confirm', { task: 'required', resumable: true }, async (_args, ctx) => {
      const schema = { type: 'object', properties: { name: { type: 'string' } } } as const
      const { action } = await ctx.elicit('name', { message: 'Who?', schema })
      return action
    })
    .tool('grow', {}, () => {
      added += 1
      server.tool(`added-${process.pid}-${added}`, {}, () => '')
      return String(process.pid)
    })
  for (const uri of [NEVER_CHANGED, QUOTED]) server.resource(uri, { subscribe: true }, 'a note')
  for (let n = 0; n < RESOURCES; n++) server.resource(`note://${n}`, { subscribe: true }, `note ${n}`)
  const { url } = await serveHttp(server, {
    port: options.port ?? 0,
    keepAlive: options.keepAlive,
    sessions: { ttl: options.sessionTtl, retry: 50 },
    sse: '/sse',
    onWarning: note,
  })
  process.on('message', () => {
    collectGarbage()
    collectGarbage()
    process.send?.({ heap: process.memoryUsage().heapUsed, problems: [...problems] })
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ url })
}

if (process.argv[1] === import.meta.filename) await main()
