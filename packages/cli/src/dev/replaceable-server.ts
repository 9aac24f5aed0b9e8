/** Keeps one process of a server running: replaces it on request, and starts it again when it has exited. */

import { setTimeout } from 'node:timers'
import { setTimeout as delay } from 'node:timers/promises'
import { type Change, ConnectionError, internalError, invalidParams, type LoggingLevel } from '@mcpx/protocol'
import { type ServerProcess, type StartOptions, startServerProcess } from './server-process.ts'

/** The options of `ReplaceableServer`. */
export interface ReplaceableServerOptions extends Omit<StartOptions, 'signal' | 'onChange'> {
  /** How long the calls of a replaced process may continue, in ms. */
  readonly drain: number
  /** Called when a process has started. `time` is the duration of the start, in ms. */
  readonly onStart: (started: ServerProcess, time: number) => void
  /** Called when a process did not start. `isKept` is true if the previous process continues. */
  readonly onFailure: (error: Error, isKept: boolean) => void
  /** Called when the process has exited by itself. A new process is started. */
  readonly onExit: (error: Error) => void
}

/**
 * How many replaced processes may continue in order to finish their calls. Above this number, the oldest process is
 * ended.
 */
const MAX_RETIRED = 4
/** How long a running start may still take after the next start was requested, in ms. */
const START_GRACE = 2_000
/**
 * The delay before the second restart in a row, in ms. It doubles with each further restart, up to the longest delay.
 */
const FIRST_DELAY = 250
const LONGEST_DELAY = 10_000
/** After a process has run for this time, in ms, the delay of a restart is the first one again. */
const HEALTHY_AFTER = 10_000

export class ReplaceableServer {
  readonly #options: ReplaceableServerOptions
  readonly #listeners = new Set<(change: Change) => void>()
  /** How many subscribers each resource has. */
  readonly #subscribers = new Map<string, number>()
  readonly #retired = new Set<ServerProcess>()
  #logLevel: LoggingLevel | undefined
  #current: ServerProcess | undefined
  /** The reason why there is no process. */
  #failure: Error | undefined
  #starting: Promise<void> | undefined
  /** Whether a file changed during the start, so that the process must be replaced after it. */
  #isOutdated = false
  #attempt = new AbortController()
  #wait = new AbortController()
  #isClosed = false
  /** How often the process has exited by itself in a row. */
  #exits = 0

  constructor(options: ReplaceableServerOptions) {
    this.#options = options
  }

  /** Starts the server, or replaces its process. If it is starting already, starts it once more afterwards. */
  replace(): void {
    if (this.#isClosed) return
    this.#exits = 0
    if (this.#starting === undefined) {
      this.#start(0)
      return
    }
    this.#isOutdated = true
    this.#wait.abort()
    // End a start that takes too long, because it may never finish.
    const attempt = this.#attempt
    setTimeout(() => attempt.abort(), START_GRACE).unref()
  }

  /** Resolves to the newest running process. Rejects with `RpcError` if no process could be started. */
  async getProcess(): Promise<ServerProcess> {
    if (this.#current === undefined) await this.#starting
    if (this.#current !== undefined) return this.#current
    throw internalError(`The server does not run. ${this.#failure?.message ?? ''} The next save starts it again.`, {
      data: { reason: 'server-not-running', retryable: true },
    })
  }

  /**
   * Resolves to the process that continues a call after an input request: the process that created the state of the
   * call.
   */
  async getProcessOf(state: string | undefined): Promise<ServerProcess> {
    const processes = [...this.#retired, ...(this.#current === undefined ? [] : [this.#current])]
    const owner = state === undefined ? undefined : processes.find((each) => each.ownsState(state))
    if (owner !== undefined || state === undefined) return owner ?? this.getProcess()
    throw invalidParams('The server process that asked for input was replaced. It is safe to repeat the call.', {
      data: { reason: 'server-process-ended', retryable: true },
    })
  }

  /** Calls the listener with the changes of all processes, and when a process is replaced. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async subscribe(uri: string): Promise<void> {
    this.#subscribers.set(uri, (this.#subscribers.get(uri) ?? 0) + 1)
    try {
      const { client } = await this.getProcess()
      await client.subscribe(uri)
    } catch (error) {
      this.#removeSubscriber(uri)
      const isRefused = error instanceof ConnectionError && error.reason === 'unsupported'
      throw isRefused ? invalidParams(error.message) : error
    }
  }

  async unsubscribe(uri: string): Promise<void> {
    if (this.#removeSubscriber(uri)) await this.#current?.client.unsubscribe(uri)
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    this.#logLevel = level
    await this.#current?.client.setLogLevel(level)
  }

  /** Ends all processes. Running calls are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#wait.abort()
    this.#attempt.abort()
    const processes = [...this.#retired, ...(this.#current === undefined ? [] : [this.#current])]
    await Promise.all(processes.map((each) => each.close()))
    await this.#starting
  }

  #start(wait: number): void {
    this.#starting = this.#startNewest(wait).finally(() => {
      this.#starting = undefined
    })
  }

  async #startNewest(wait: number): Promise<void> {
    this.#wait = new AbortController()
    if (wait > 0) await delay(wait, undefined, { signal: this.#wait.signal }).catch(() => {})
    do {
      this.#isOutdated = false
      if (!this.#isClosed) await this.#startOnce()
    } while (this.#isOutdated)
  }

  async #startOnce(): Promise<void> {
    const startTime = performance.now()
    this.#attempt = new AbortController()
    try {
      const started = await startServerProcess({
        ...this.#options,
        signal: this.#attempt.signal,
        onChange: (change) => this.#notify(change),
      })
      if (this.#isClosed) return await started.close()
      this.#options.onStart(started, performance.now() - startTime)
      await this.#use(started)
    } catch (error) {
      if (this.#isClosed) return
      this.#failure = error as Error
      this.#options.onFailure(this.#failure, this.#current !== undefined)
    }
  }

  async #use(started: ServerProcess): Promise<void> {
    const replaced = this.#current
    this.#current = started
    this.#failure = undefined
    const startTime = performance.now()
    void started.ended.then((error) => this.#restart(started, error, performance.now() - startTime))
    if (replaced !== undefined) void this.#retire(replaced)
    const { client } = started
    const level = this.#logLevel
    const uris = [...this.#subscribers.keys()]
    const steps = uris.map((uri) => client.subscribe(uri))
    if (level !== undefined) steps.push(client.setLogLevel(level))
    for (const step of await Promise.allSettled(steps)) {
      if (step.status === 'rejected') this.#options.onWarning(step.reason)
    }
    for (const kind of ['tools', 'prompts', 'resources'] as const) this.#notify({ kind })
    for (const uri of uris) this.#notify({ kind: 'resource', uri })
  }

  async #retire(replaced: ServerProcess): Promise<void> {
    this.#retired.add(replaced)
    const [oldest] = this.#retired
    if (this.#retired.size > MAX_RETIRED) void oldest?.closeEarly()
    await replaced.retire(this.#options.drain)
    this.#retired.delete(replaced)
  }

  #restart(ended: ServerProcess, error: Error | undefined, lifetime: number): void {
    if (ended !== this.#current || this.#isClosed) return
    this.#current = undefined
    this.#failure = error
    this.#exits = lifetime >= HEALTHY_AFTER ? 1 : this.#exits + 1
    // End processes that it has started, too.
    void ended.close()
    this.#options.onExit(error ?? new Error('The server process has ended'))
    const wait = this.#exits < 2 ? 0 : Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (this.#exits - 2))
    if (this.#starting === undefined) this.#start(wait)
  }

  #notify(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }

  /** Removes one subscriber of a resource. Returns true if it was the last one. */
  #removeSubscriber(uri: string): boolean {
    const count = (this.#subscribers.get(uri) ?? 0) - 1
    if (count > 0) this.#subscribers.set(uri, count)
    else this.#subscribers.delete(uri)
    return count === 0
  }
}
