/** Keeps clients busy while nodes are killed and Redis stands still, and counts what becomes of their requests. */

import { ConnectionError, RpcError } from '@mcpx/protocol'
import { delay } from '@mcpx/testing'
import { type ClientName, connectBy, type TestClient } from './clients.fixture.ts'
import type { Cluster } from './cluster.fixture.ts'
import { RESOURCES } from './node.fixture.ts'

/** The results of requests, by their outcome. */
type Outcomes = Map<string, number>

export interface Tally {
  readonly outcomes: Outcomes
  /** Errors that do not say what happened. */
  readonly unnamed: string[]
  /** Handshakes after the first one of a client, and responses that say that a session is unknown. */
  readonly lostSessions: string[]
  /** Ids of events that a client received twice. */
  readonly repeatedEvents: string[]
  /** Progress that was repeated or out of order. */
  readonly repeatedProgress: string[]
  /** Changes that a client did not receive within the limit. */
  readonly untold: string[]
  /** The longest time between the call that made a change and its notification, in ms. */
  longestDelay: number
  /** The longest time of a call, in ms. */
  longestCall: number
  changes: number
}

export function createTally(): Tally {
  return {
    outcomes: new Map(),
    unnamed: [],
    lostSessions: [],
    repeatedEvents: [],
    repeatedProgress: [],
    untold: [],
    longestDelay: 0,
    longestCall: 0,
    changes: 0,
  }
}

/** A client that calls tools until it is stopped. */
export interface BusyClient {
  readonly client: TestClient
  /** Whether a change of the resource was received after a moment, in ms of `performance.now()`. */
  hasReceived(uri: string, since: number): boolean
  stop(): Promise<void>
}

const URIS = Array.from({ length: RESOURCES }, (_, n) => `note://${n}`)

/** Connects a client, subscribes ours to all resources, and lets it call tools. */
export async function startBusyClient(name: ClientName, url: string, tally: Tally): Promise<BusyClient> {
  const client = await connectBy[name](url, createWatchedFetch(name, tally))
  const received = new Map<string, number>()
  if (isOurs(name)) await client.listen(URIS, (change) => void received.set(change, performance.now()))
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
    hasReceived: (uri, since) => (received.get(uri) ?? 0) >= since,
    async stop() {
      isStopped = true
      await Promise.all(loops)
    },
  }
}

/** The clients of the official SDKs do not open a lost stream of changes again for long enough. */
export function isOurs(name: string): boolean {
  return name.startsWith('our')
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
    // Nothing says what became of the request, or who is at fault.
    if (error.reason === 'timeout' || error.status === 500) tally.unnamed.push(`${what}: ${error.message}`)
    return `${error.reason}${error.status === undefined ? '' : ` ${error.status}`}${error.retryable ? ', retryable' : ''}`
  }
  if (error instanceof RpcError) {
    if (error.code === -32603) tally.unnamed.push(`${what}: ${error.message}`)
    return `RpcError ${error.code}: ${error.message.slice(0, 60)}`
  }
  // The errors of the official SDKs have codes, or are those of fetch.
  if (!isOurs(what) && error instanceof Error) return `${error.name}: ${error.message.slice(0, 80)}`
  tally.unnamed.push(`${what}: ${String(error)}`)
  return String(error)
}

/** A `fetch` that watches the sessions and the ids of events of one client. */
function createWatchedFetch(name: string, tally: Tally): typeof fetch {
  const ids = new Set<string>()
  let handshakes = 0
  return async (input, init) => {
    const isHandshake = String(init?.body ?? '').includes('"initialize"')
    if (isHandshake) handshakes += 1
    if (isHandshake && handshakes > 1) tally.lostSessions.push(`${name}: another handshake`)
    const response = await fetch(input as string, init)
    const hasSession = new Headers(init?.headers).has('mcp-session-id')
    if (hasSession && response.status === 404) tally.lostSessions.push(`${name}: ${init?.method} was answered with 404`)
    if (response.headers.get('content-type') !== 'text/event-stream' || response.body === null) return response
    let rest = ''
    const watching = new TransformStream<string, string>({
      transform(chunk, controller) {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          if (!line.startsWith('id: ')) continue
          if (ids.has(line)) tally.repeatedEvents.push(`${name}: ${line}`)
          ids.add(line)
        }
        controller.enqueue(chunk)
      },
    })
    const body = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(watching)
      .pipeThrough(new TextEncoderStream())
    return new Response(body, response)
  }
}

/**
 * The time within which every client must have received a change, in ms. A client whose streams are cut again and again
 * waits longer and longer before it opens the next one, which then counts everything as changed.
 */
const MOST_DELAY = 40_000

/** Changes resources through one client, and checks that all clients receive each change. */
export async function changeResources(
  caller: TestClient,
  listeners: readonly (readonly [string, BusyClient])[],
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const checks: Promise<void>[] = []
  for (let n = 0; !signal.aborted; n++) {
    const uri = URIS[n % URIS.length] as string
    const since = performance.now()
    const isDone = await record('change of a resource', async () => void (await caller.call('touch', { uri })), tally)
    // A change whose call has failed may have happened or not.
    if (isDone) {
      tally.changes += 1
      for (const [name, listener] of listeners) checks.push(expectReceived(name, listener, uri, since, tally))
    }
    await delay(350)
  }
  await Promise.all(checks)
}

async function expectReceived(
  name: string,
  listener: BusyClient,
  uri: string,
  since: number,
  tally: Tally,
): Promise<void> {
  while (!listener.hasReceived(uri, since)) {
    if (performance.now() - since > MOST_DELAY) return void tally.untold.push(`${name}: ${uri}`)
    await delay(20)
  }
  tally.longestDelay = Math.max(tally.longestDelay, performance.now() - since)
}

/**
 * Causes faults for a while: every 2 s, or when the last one is back, a node is killed and started again; all subscriptions are
 * cut after each fourth kill, and Redis stands still for 3 s in the middle. Returns the faults.
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
    }
    await restarted
    await delay(Math.max(0, next - performance.now()))
  }
  return faults
}
