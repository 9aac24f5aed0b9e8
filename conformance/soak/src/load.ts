/** Creates the load: busy clients of each kind, misbehaving clients, listeners, and processes that are killed. */

import type { Client } from '@mcpx/client'
import { ConnectionError } from '@mcpx/protocol'
import type { Settings } from './command-line.ts'
import { connectClient, distribute, type Kind, mayBreak, type Targets } from './connections.ts'
import { Listeners } from './listeners.ts'
import { pickOperation } from './operations.ts'
import { Pace } from './pace.ts'
import type { ProcessReport, ServerProcess } from './processes.ts'
import { createRandom, type Random } from './random.ts'
import { readSlowly, vanish } from './strangers.ts'
import { type Tally, WrongResult } from './tally.ts'

/** The numbers of listeners and of misbehaving clients, per 20 connections. */
const PART = 20

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export class Load {
  readonly pace: Pace
  readonly listeners: Listeners
  /** Reads the reports of the processes over stdio that are not killed. */
  readonly pipes = new Map<string, () => Promise<ProcessReport>>()
  /** The warnings of all clients, with their numbers. */
  readonly warnings: Record<string, number> = {}
  readonly #settings: Settings
  readonly #targets: Targets
  readonly #tally: Tally
  #loops: Promise<void>[] = []
  #isOver = false

  constructor(settings: Settings, targets: Targets, tally: Tally) {
    this.#settings = settings
    this.#targets = targets
    this.#tally = tally
    this.pace = new Pace(settings.rate)
    this.listeners = new Listeners(targets, tally)
  }

  /** Connects everything. Resolves when the listeners are connected; the clients connect one after the other. */
  async start(): Promise<void> {
    const { connections, faults, seed } = this.#settings
    const kinds = distribute(connections, faults)
    const isListener = (kind: Kind, index: number) => index % PART === 0 && !kind.isFaulty && kind.over !== 'stdio'
    const isStranger = (kind: Kind, index: number) => faults && index % PART === 1 && kind.over === 'http'
    await Promise.all(kinds.map((kind, index) => isListener(kind, index) && this.listeners.add(kind, seed + index)))
    const plain = kinds.find(({ over }) => over === 'http') as Kind
    const isOver = () => this.#isOver
    this.#loops = kinds.flatMap((kind, index) => {
      if (isListener(kind, index)) return []
      const random = createRandom(seed * 10_000 + index)
      return [isStranger(kind, index) ? this.#runStranger(kind, random) : this.#runClient(kind, random)]
    })
    this.#loops.push(this.listeners.makeChanges(plain, this.pace, isOver))
  }

  /** Repeatedly kills the second server and starts it again. */
  killRepeatedly(server: ServerProcess, restart: () => Promise<ServerProcess>, interval: number): void {
    const run = async (running: ServerProcess) => {
      for (let current = running; ; ) {
        for (let waited = 0; waited < interval && !this.#isOver; waited += 100) await pause(100)
        if (this.#isOver) return
        await current.kill()
        this.#tally.count('server process', 'killed')
        current = await restart()
      }
    }
    this.#loops.push(run(server))
  }

  /** Resolves when all operations have ended and all clients are closed. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
    this.pace.close()
    await this.listeners.close()
  }

  #note(warning: Error): void {
    const text = warning.message.replaceAll(/[0-9a-f-]{8,}|\d{3,}/g, '…').slice(0, 200)
    if (text in this.warnings || Object.keys(this.warnings).length < 100) {
      this.warnings[text] = (this.warnings[text] ?? 0) + 1
    }
  }

  async #runClient(kind: Kind, random: Random): Promise<void> {
    const options = { mayBreak: mayBreak(kind) }
    while (!this.#isOver) {
      let client: Client | undefined
      await this.pace.turn()
      const connecting = () => connectClient(kind, this.#targets, random.below(1e9), (warning) => this.#note(warning))
      await this.#tally.record(`${kind.name}: connect`, async () => (client = await connecting()), options)
      if (client === undefined) await pause(200)
      else await this.#useClient(kind, client, random)
    }
  }

  /** Calls a connected client, then closes it. */
  async #useClient(kind: Kind, client: Client, random: Random): Promise<void> {
    const options = { mayBreak: mayBreak(kind) }
    const isPipe = kind.over === 'stdio'
    const isSteadyPipe = isPipe && kind.target === 'steady'
    if (isSteadyPipe) this.pipes.set(kind.name, () => lookOverPipe(client))
    const operations = isSteadyPipe ? Number.POSITIVE_INFINITY : 20 + random.below(60)
    for (let n = 0; n < operations && !this.#isOver; n++) {
      const { name, isQuick, run } = pickOperation(kind.revision, random)
      await this.pace.turn()
      const measured = { ...options, isQuick: isQuick === true && !kind.isFaulty }
      await this.#tally.record(`${kind.name}: ${name}`, () => run(client, random), measured)
    }
    if (isPipe && !isSteadyPipe) await this.#exit(kind, client)
    this.pipes.delete(kind.name)
    await this.#tally.record(`${kind.name}: close`, () => client.close(), options)
  }

  /** Makes a server process exit during a call. The next call starts it again. */
  async #exit(kind: Kind, client: Client): Promise<void> {
    const options = { mayBreak: true }
    await this.#tally.record(
      `${kind.name}: exit`,
      async () => {
        await client.callTool('exit').then(
          () => Promise.reject(new WrongResult('expected the end of the process, got a result')),
          (error: unknown) => {
            if (!(error instanceof ConnectionError && error.reason === 'exited')) throw error
          },
        )
      },
      options,
    )
    await this.#tally.record(`${kind.name}: call after the exit`, () => client.callTool('echo', { text: '' }), options)
  }

  async #runStranger(kind: Kind, random: Random): Promise<void> {
    const url = this.#targets.steady
    while (!this.#isOver) {
      await this.pace.turn()
      if (random.next() < 0.8)
        await this.#tally.record('stranger: vanish', () => vanish(url, random), { mayBreak: false })
      else await this.#tally.record('stranger: read slowly', () => readSlowly(url), { mayBreak: mayBreak(kind) })
      await pause(100)
    }
  }
}

async function lookOverPipe(client: Client): Promise<ProcessReport> {
  const { content } = await client.callTool('look')
  const [block] = content
  return JSON.parse(block?.type === 'text' ? block.text : '')
}
