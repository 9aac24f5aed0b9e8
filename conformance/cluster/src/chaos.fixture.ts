/** Keeps clients busy while nodes are killed and Redis is stopped, and counts the outcomes of their requests. */

import { ConnectionError, RpcError } from '@mcpx/protocol'
import { delay } from '@mcpx/testing'
import { type ClientName, connectBy, type TestClient } from './clients.fixture.ts'
import type { Cluster } from './cluster.fixture.ts'
import { NEVER_CHANGED, RESOURCES } from './node.fixture.ts'
import { TOOLS, Watch } from './watch.fixture.ts'

/** The results of requests, by their outcome. */
type Outcomes = Map<string, number>

export interface Tally {
  readonly outcomes: Outcomes
  /** Errors that do not say what happened. */
  readonly unnamed: string[]
  readonly lostSessions: string[]
  readonly repeatedMessages: string[]
  /** Progress that was repeated or out of order. */
  readonly repeatedProgress: string[]
  /** Changes that a client did not receive within the limit. */
  readonly untold: string[]
  /** How often each change may have happened: the number of its calls, including failed calls. */
  readonly attempts: Map<string, number>
  /** The number of calls that made a change, by its kind. */
  readonly changes: { resources: number; tools: number }
  /** The longest time between the call that made a change and its notification, by client, in ms. */
  readonly longestDelays: Map<string, number>
  /** The longest time of a call, in ms. */
  longestCall: number
}

export function createTally(): Tally {
  return {
    outcomes: new Map(),
    unnamed: [],
    lostSessions: [],
    repeatedMessages: [],
    repeatedProgress: [],
    untold: [],
    attempts: new Map(),
    changes: { resources: 0, tools: 0 },
    longestDelays: new Map(),
    longestCall: 0,
  }
}

/** A client that listens and calls tools until it is stopped. */
export interface BusyClient {
  readonly client: TestClient
  readonly watch: Watch
  /** Whether the client listens to a change. */
  listensTo(change: string): boolean
  /** Whether a change was received after a moment, in ms of `performance.now()`. */
  hasReceived(change: string, since: number): boolean
  stop(): Promise<void>
}

const URIS = Array.from({ length: RESOURCES }, (_, n) => `note://${n}`)

/**
 * The number of resources that a client of HTTP+SSE subscribes to. Its session ends with each stream, so it sends all of
 * its subscriptions again, each in a request of its own.
 */
const FEW = 8

/** Connects a client, subscribes it to resources and the list of tools, and lets it call tools. */
export async function startBusyClient(name: ClientName, url: string, tally: Tally): Promise<BusyClient> {
  const watch = new Watch(name, tally)
  const client = await connectBy[name](url, watch.fetch)
  const received = new Map<string, number>()
  const uris = name.endsWith('HTTP+SSE') ? URIS.filter((_, n) => n % (RESOURCES / FEW) === 0) : URIS
  await client.listen([NEVER_CHANGED, ...uris], (change) => void received.set(change, performance.now()))
  let isStopped = false

  async function repeat(what: string, run: () => Promise<void>): Promise<void> {
    while (!isStopped) {
      await record(`${name}: ${what}`, run, tally)
      await delay(20)
    }
  }

  const loops = [
    repeat('call', async () => void (await client.call('who'))),
    repeat('call with an input request', async () => {
      const text = await client.call('ask')
      if (!text.startsWith('accept')) throw new Error(`The answer was ${text}`)
    }),
    repeat('call with progress', async () => {
      let last = 0
      await client.call(
        'count',
        { times: 20, pause: 20 },
        {
          onProgress(progress) {
            if (progress !== last + 1) tally.repeatedProgress.push(`${name}: ${progress} after ${last}`)
            last = progress
          },
        },
      )
    }),
  ]
  return {
    client,
    watch,
    listensTo: (change) => change === TOOLS || uris.includes(change),
    hasReceived: (change, since) => (received.get(change) ?? 0) >= since,
    async stop() {
      isStopped = true
      await Promise.all(loops)
    },
  }
}

async function record(what: string, run: () => Promise<void>, tally: Tally): Promise<boolean> {
  const started = performance.now()
  const outcome = await run().then(
    () => 'result',
    (error: unknown) => nameOf(error, what, tally),
  )
  tally.longestCall = Math.max(tally.longestCall, performance.now() - started)
  const key = `${what} | ${outcome}`
  tally.outcomes.set(key, (tally.outcomes.get(key) ?? 0) + 1)
  return outcome === 'result'
}

/** Names an error, and whether the same request may be sent again. */
function nameOf(error: unknown, what: string, tally: Tally): string {
  if (error instanceof ConnectionError) {
    // Such an error does not say whether the request was handled, or which side is at fault.
    if (error.reason === 'timeout' || error.status === 500) tally.unnamed.push(`${what}: ${error.message}`)
    return `${error.reason}${error.status === undefined ? '' : ` ${error.status}`}${error.retryable ? ', retryable' : ''}`
  }
  if (error instanceof RpcError) {
    if (error.code === -32603) tally.unnamed.push(`${what}: ${error.message}`)
    return `RpcError ${error.code}: ${error.message.slice(0, 60)}`
  }
  // The errors of the official SDKs have a class and a code. HTTP errors also have a status.
  const { constructor: type, code, status } = error as { code?: number | string; status?: number } & object
  if (what.startsWith('official') && code !== undefined) {
    return `${type.name} ${code}${status === undefined ? '' : ` ${status}`}`
  }
  tally.unnamed.push(`${what}: ${String(error)}`)
  return String(error)
}

/**
 * The time after the last fault within which every client must have received all changes, in ms. A client whose streams
 * are cut again and again waits up to 30 s before it opens the next one, which then counts everything as changed.
 */
const MOST_DELAY = 40_000

/** The pauses between two changes of resources, and of the list of tools, in ms. */
const PAUSES = { resources: 350, tools: 900 }

type Listeners = readonly (readonly [string, BusyClient])[]

/**
 * Changes resources and the list of tools through one client, and checks that all clients receive each change.
 * @param signal aborted after the last fault
 */
export async function makeChanges(
  caller: TestClient,
  listeners: Listeners,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const checks: Promise<void>[] = []
  let lastFault = Number.POSITIVE_INFINITY
  signal.addEventListener('abort', () => {
    lastFault = performance.now()
  })
  const end = () => lastFault + MOST_DELAY

  async function repeat(kind: keyof typeof PAUSES, next: (n: number) => string, tool: string): Promise<void> {
    for (let n = 0; !signal.aborted; n++) {
      const change = next(n)
      const since = performance.now()
      tally.attempts.set(change, (tally.attempts.get(change) ?? 0) + 1)
      // A change whose call has failed may have happened or not.
      if (await record(`change of ${kind}`, async () => void (await caller.call(tool, { uri: change })), tally)) {
        tally.changes[kind] += 1
        const concerned = listeners.filter(([, { listensTo }]) => listensTo(change))
        for (const listener of concerned) checks.push(expectReceived(listener, { change, since, end }, tally))
      }
      await delay(PAUSES[kind])
    }
  }

  await Promise.all([
    repeat('resources', (n) => URIS[n % URIS.length] as string, 'touch'),
    repeat('tools', () => TOOLS, 'grow'),
  ])
  await Promise.all(checks)
}

async function expectReceived(
  [name, listener]: Listeners[number],
  { change, since, end }: { change: string; since: number; end: () => number },
  tally: Tally,
): Promise<void> {
  while (!listener.hasReceived(change, since)) {
    if (performance.now() > end()) return void tally.untold.push(`${name}: ${change}`)
    await delay(20)
  }
  tally.longestDelays.set(name, Math.max(tally.longestDelays.get(name) ?? 0, performance.now() - since))
}

/**
 * The time in which nodes publish the changes that waited for Redis, in ms. A node that is killed earlier loses them.
 */
const PUBLISH_TIME = 1_500

/**
 * Causes faults. Every 2 s, or when the last node has started again, kills a node and starts it again. Cuts all
 * subscriptions after each fourth kill. Stops Redis for 3 s in the middle. Returns the faults.
 */
export async function causeFaults(cluster: Cluster, seconds: number): Promise<string[]> {
  const faults: string[] = []
  const end = performance.now() + seconds * 1_000
  const middle = end - seconds * 500
  let hasPaused = false
  for (let n = 0; performance.now() < end; n++) {
    const next = performance.now() + 2_000
    const index = n % cluster.nodes.length
    await cluster.kill(index)
    const restarted = cluster.restart(index)
    faults.push(`killed node ${index}`)
    if (n % 4 === 3) {
      await cluster.admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
      faults.push('cut all subscriptions')
    }
    if (!hasPaused && performance.now() > middle) {
      hasPaused = true
      cluster.redis.pause()
      await delay(3_000)
      cluster.redis.resume()
      faults.push('stopped Redis for 3 s')
      await delay(PUBLISH_TIME)
    }
    await restarted
    await delay(Math.max(0, next - performance.now()))
  }
  return faults
}
