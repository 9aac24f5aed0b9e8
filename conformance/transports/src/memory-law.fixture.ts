/** The memory law: a server with default limits survives a flood, keeps room in its heap, and answers another caller meanwhile. */

import { expect } from 'vitest'
import type { CallsMade } from './caller.fixture.ts'
import { type Caller, type Host, startCaller, startHost } from './hosts.fixture.ts'
import { initialize, type RawEra, rawLegacy, rawModern } from './sockets.fixture.ts'
import { type Flood, send } from './strangers.fixture.ts'

/** The size of the heap of the server, in MB. */
const HEAP = 256
const MEGABYTE = 1024 * 1024
/** The largest heap after a flood and a garbage collection. The rest is room for the garbage of the next requests. */
const MOST_HEAP = 200 * MEGABYTE
/** The largest resident memory of the process: its heap, and what its sockets and the allocator hold outside of it. */
const MOST_RESIDENT = 768 * MEGABYTE
/** The longest time of the server for an answer to another caller, in ms. */
const LONGEST_ANSWER = 1_000
/** The longest time for it, in which the server may also wait for its own threads on a busy machine, in ms. */
const LONGEST_WAIT = 5_000

const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const KNOWN = { ...TYPES, 'x-caller': 'known' }

/** A server with default limits, and a caller that is authenticated and calls it in both eras. */
export class FloodedServer {
  readonly #host: Host
  readonly #caller: Caller

  private constructor(host: Host, caller: Caller) {
    this.#host = host
    this.#caller = caller
  }

  static async start(): Promise<FloodedServer> {
    const host = await startHost({ serve: { sse: '/sse' }, knowsCallers: true, heap: HEAP, hasAllFeatures: true })
    const opened = await fetch(host.url, { method: 'POST', headers: KNOWN, body: JSON.stringify(initialize()) })
    const session = opened.headers.get('mcp-session-id') as string
    return new FloodedServer(host, await startCaller(host, [rawModern, rawLegacy(session)].map(echo)))
  }

  /** Sends a flood, and requires that the server survives it. Returns how long the caller waited for answers. */
  async survive(flood: Flood): Promise<CallsMade> {
    const [host, caller] = [this.#host, this.#caller]
    caller.begin()
    const sent = await send(flood, host.url)
    const calls = await caller.end()
    sent.close()
    const { exitCode, signalCode } = host.child
    const state = `exit code ${exitCode}, signal ${signalCode}, ${host.stderr.slice(-500)}`
    expect(calls.wrong, `the server process: ${state}`).toEqual([])
    const { heap, resident } = await host.look()
    expect(heap, 'the heap').toBeLessThan(MOST_HEAP)
    expect(resident, 'the resident memory').toBeLessThan(MOST_RESIDENT)
    return calls
  }

  close(): Promise<void> {
    this.#caller.close()
    return this.#host.kill()
  }
}

/** Requires short times in one of two floods, because other programs on the machine rarely disturb both. */
export async function expectAnswersInTime(flood: () => Promise<CallsMade>): Promise<void> {
  const isInTime = ({ longest, longestWait }: CallsMade) => longest < LONGEST_ANSWER && longestWait < LONGEST_WAIT
  const first = await flood()
  const { longest, slowest, longestWait } = isInTime(first) ? first : await flood()
  expect(longest, `the processor time for the call ${slowest}`).toBeLessThan(LONGEST_ANSWER)
  expect(longestWait, 'the time for a call').toBeLessThan(LONGEST_WAIT)
}

function echo(era: RawEra) {
  const text = 'still here'
  const headers = { ...KNOWN, ...era.headers('echo') } as Record<string, string>
  return { name: era.name, body: era.body(1, 'echo', { text }), headers, expected: text }
}
