/** A server process: `node --conditions=source host.fixture.ts <options as JSON>`. It sends its URL to the parent process
 * over IPC, and answers the message `look` with its resources.
 */

import process, { getActiveResourcesInfo } from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AuthInfo, Store } from '@mcpx/protocol'
import { createServer, type Server } from '@mcpx/server'
import { tasks } from '@mcpx/tasks'
import type { HttpLimits } from '@mcpx/transport-http'
import { type ServeHttpOptions, serveHttp } from '@mcpx/transport-http/node'
import { closeClients, openStore, type StoreSettings } from './store-process.fixture.ts'
import { openStores } from './stores.fixture.ts'

export interface HostOptions {
  readonly serve?: ServeHttpOptions & { readonly limits?: Partial<HttpLimits> }
  /** The port of a shared store. Default: the memory of this process. */
  readonly stores?: number
  /** A store in Redis, SQLite or Durable Objects, instead. */
  readonly store?: StoreSettings
  /** The size of the heap, in MB. Default: as Node chooses. */
  readonly heap?: number
  /** Whether the server also has prompts, resource templates and tasks. Default: false. */
  readonly hasAllFeatures?: boolean
  /** Whether requests with the header `x-caller` are authenticated with its value. */
  readonly knowsCallers?: boolean
}

/** The resources of a server process after a garbage collection. */
export interface HostResources {
  readonly heap: number
  readonly resident: number
  readonly resources: Readonly<Record<string, number>>
  readonly calls: number
  /** The number of aborted calls. */
  readonly aborted: number
}

const text = { type: 'object', properties: { text: { type: 'string' } } } as const
const counting = {
  type: 'object',
  properties: { times: { type: 'integer' }, pause: { type: 'number' }, size: { type: 'integer' } },
} as const

export function createHost(store?: Store, hasAllFeatures = false) {
  const counts = { calls: 0, aborted: 0, grown: 0 }
  const extensions = hasAllFeatures ? [tasks()] : []
  const server: Server = createServer(
    { name: 'host', version: '1' },
    { secrets: ['known to all processes of one endpoint'], store, extensions },
  )
    .tool('echo', { input: text }, (args) => {
      counts.calls += 1
      return String((args as { text?: string }).text ?? '')
    })
    .tool('who', {}, () => String(process.pid))
    .tool('big', { input: counting }, (args) => 'x'.repeat((args as { size: number }).size))
    .tool('never', {}, (_args, { signal }) => {
      counts.calls += 1
      return new Promise<string>((resolve) => {
        signal.addEventListener('abort', () => {
          counts.aborted += 1
          resolve('aborted')
        })
      })
    })
    .tool('count', { input: counting }, async (args, ctx) => {
      const { times, pause = 0, size = 0 } = args as { times: number; pause?: number; size?: number }
      counts.calls += 1
      for (let n = 1; n <= times && !ctx.signal.aborted; n++) {
        await ctx.progress(n, times, 'x'.repeat(size))
        if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
      }
      if (ctx.signal.aborted) counts.aborted += 1
      return `counted by ${process.pid}`
    })
    .tool('grow', {}, () => {
      server.tool(`grown-${++counts.grown}`, {}, () => 'x')
      return 'grown'
    })
    .tool('touch', {}, () => {
      server.resourceUpdated('note://watched')
      return 'touched'
    })
    .resource('note://watched', { subscribe: true }, 'x')
    .tool('ask', {}, async (_args, ctx) => {
      const schema = { type: 'object', properties: { name: { type: 'string' } } } as const
      const answer = await ctx.elicit('name', { message: 'Who?', schema: { ...schema } })
      return `${answer.action} received by ${process.pid}`
    }) as unknown as Server
  if (hasAllFeatures) addFeatures(server)
  return { server, counts }
}

function addFeatures(server: Server): void {
  server
    .tool('work', { task: 'required' }, (_args, { signal }) => {
      return new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('aborted')))
    })
    .tool('repeat', { input: text, task: 'required' }, (args) => String((args as { text?: string }).text))
    .prompt('greet', { args: text, complete: { text: ['one', 'two'] } }, (args) => `Greet ${args.text}`)
    .resource('memo://{name}', { name: 'memo', complete: { name: ['one', 'two'] } }, ({ name }) => `${name}`)
}

function look({ calls, aborted }: { calls: number; aborted: number }): HostResources {
  collectGarbage()
  collectGarbage()
  const { heapUsed, rss } = process.memoryUsage()
  const resources: Record<string, number> = {}
  for (const kind of getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  return { heap: heapUsed, resident: rss, resources, calls, aborted }
}

function readCaller({ headers }: Request): AuthInfo | undefined {
  const subject = headers.get('x-caller')
  return subject === null ? undefined : { subject, scopes: [] }
}

async function openShared({ store, stores }: HostOptions): Promise<Store | undefined> {
  if (store !== undefined) return openStore(store)
  return stores === undefined ? undefined : openStores(stores)
}

let collectGarbage = (): void => {}

async function main(): Promise<void> {
  setFlagsFromString('--expose-gc')
  collectGarbage = runInNewContext('gc') as () => void
  const options = JSON.parse(process.argv[2] ?? '{}') as HostOptions
  const { serve = {}, knowsCallers, hasAllFeatures } = options
  const shared = await openShared(options)
  const { server, counts } = createHost(shared, hasAllFeatures)
  const authenticate = knowsCallers ? readCaller : undefined
  // `expectResources` waits until idle connections are closed.
  const served = await serveHttp(server, { port: 0, keepAliveTimeout: 5_000, ...serve, authenticate })
  const { url, port } = served
  process.on('message', async (command) => {
    if (command === 'look') process.send?.({ held: look(counts) })
    else if (command === 'close') await close()
    else process.exit(0)
  })
  /** Closes everything. The process then has to exit by itself. */
  async function close(): Promise<void> {
    await served.close()
    server.close()
    await shared?.close?.()
    await closeClients()
    process.disconnect()
  }
  process.send?.({ url, port })
}

if (process.argv[1] === import.meta.filename) await main()
