/** Clients that watch resources for the whole run, and a check that each of them receives each change. */

import type { Client } from '@mcpx/client'
import { connectClient, type Kind, type Targets } from './connections.ts'
import type { Pace } from './pace.ts'
import type { Tally } from './tally.ts'
import { WATCHED } from './tools.ts'

/** The time within which a change must be received, in ms. It includes the restart of a killed server. */
const MOST_DELAY = 60_000
/** The time between two changes, in ms. */
const INTERVAL = 500

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

interface Listener {
  readonly name: string
  /** The time of the last received change of each resource. */
  readonly received: Map<string, number>
}

export class Listeners {
  readonly #targets: Targets
  readonly #tally: Tally
  readonly #clients: Client[] = []
  readonly #listeners: Listener[] = []
  readonly #checks = new Set<Promise<void>>()
  changes = 0
  /** The longest time between a change and its notification, in ms. */
  longestDelay = 0

  constructor(targets: Targets, tally: Tally) {
    this.#targets = targets
    this.#tally = tally
  }

  /** Connects a listener, and follows it until `close`. */
  async add(kind: Kind, seed: number): Promise<void> {
    const client = await connectClient(kind, this.#targets, seed, () => {})
    this.#clients.push(client)
    const listening = client.listen({ resourceSubscriptions: [...WATCHED] })
    await listening.ready
    const received = new Map<string, number>()
    this.#listeners.push({ name: `listener, ${kind.name}`, received })
    void (async () => {
      for await (const change of listening) if (change.kind === 'resource') received.set(change.uri, performance.now())
    })().catch((error: Error) => this.#tally.fail(`listener, ${kind.name}`, error.message))
  }

  /** Changes resources through a client until `isOver`, and checks that all listeners receive each change. */
  async makeChanges(kind: Kind, pace: Pace, isOver: () => boolean): Promise<void> {
    const client = await connectClient(kind, this.#targets, 0, () => {})
    this.#clients.push(client)
    for (let n = 0; !isOver(); n++) {
      await pace.turn()
      const uri = WATCHED[n % WATCHED.length] as string
      const since = performance.now()
      const isDone = await this.#tally.record('change', () => client.callTool('touch', { uri }), { mayBreak: false })
      if (isDone) {
        this.changes += 1
        for (const listener of this.#listeners) this.#check(listener, uri, since)
      }
      await pause(INTERVAL)
    }
    await Promise.all(this.#checks)
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()))
  }

  #check(listener: Listener, uri: string, since: number): void {
    const check = this.#expectReceived(listener, uri, since).finally(() => this.#checks.delete(check))
    this.#checks.add(check)
  }

  async #expectReceived({ name, received }: Listener, uri: string, since: number): Promise<void> {
    while ((received.get(uri) ?? 0) < since) {
      if (performance.now() - since > MOST_DELAY) {
        return this.#tally.fail(name, `lost change: ${uri} was not received within ${MOST_DELAY} ms`)
      }
      await pause(50)
    }
    this.longestDelay = Math.max(this.longestDelay, performance.now() - since)
  }
}
