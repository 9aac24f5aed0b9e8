/** A channel to a child process: messages over its standard streams, its exit as the reason, and no process left. */

import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { type Awaitable, type Channel, ConnectionError, type Decoded, type Message } from '@mcpx/protocol'
import { endTree, forgetTree, type LadderTimes, processTree } from './process-tree.ts'
import { deafError, exitedError, ServerExitError } from './server-exit.ts'
import type { StderrTail } from './stderr-tail.ts'
import { StreamChannel, type StreamChannelOptions } from './stream-channel.ts'
import { withinTime } from './within-time.ts'

export type ServerProcess = ChildProcessByStdio<Writable, Readable, Readable>

export interface ProcessChannelOptions extends Pick<StreamChannelOptions, 'maxLineLength' | 'maxUnsent' | 'onStray'> {
  readonly child: ServerProcess
  /** The command, for messages. */
  readonly command: string
  readonly tail: StderrTail
  readonly times: LadderTimes
  /** Hears of an exit that nobody asked for, with how long the process has lived, in ms. */
  readonly onExit: (lived: number) => void
  readonly report: (problem: Error) => void
}

/** How long the exit may lie behind the end of the output, and the rest of the output behind the exit, in ms. */
const LAG = 500

export interface ProcessConnection extends Channel {
  /** Resolves when the process is gone, or cannot be reached any more, before anybody is told: who then asks again can start another one. */
  readonly gone: Promise<ConnectionError>
}

export function createProcessChannel(options: ProcessChannelOptions): ProcessConnection {
  return new ProcessChannel(options)
}

class ProcessChannel implements ProcessConnection {
  readonly gone: Promise<ConnectionError>
  #tellGone: (reason: ConnectionError) => void = () => {}
  readonly #options: ProcessChannelOptions
  readonly #child: ServerProcess
  readonly #tree: ReturnType<typeof processTree>
  readonly #stream: StreamChannel
  readonly #exited: Promise<void>
  /** All that the process wrote has been read. */
  readonly #drained: Promise<void>
  #isReading = false
  #closing: Promise<void> | undefined
  #failure: Promise<ConnectionError> | undefined

  constructor(options: ProcessChannelOptions) {
    const { child, times, maxLineLength, maxUnsent, onStray, onExit } = options
    const started = performance.now()
    this.#options = options
    this.#child = child
    this.#tree = processTree(child)
    this.gone = new Promise((resolve) => {
      this.#tellGone = resolve
    })
    this.#exited = new Promise((resolve) => void child.once('exit', () => resolve()))
    this.#drained = new Promise((resolve) => void child.once('close', () => resolve()))
    this.#stream = new StreamChannel({
      input: child.stdout,
      output: child.stdin,
      flushTimeout: times.end,
      maxLineLength,
      maxUnsent,
      onStray,
    })
    child.once('exit', () => {
      if (this.#closing === undefined) onExit(performance.now() - started)
    })
  }

  /** What is sent to a process that has exited is rejected with what is known of the exit. */
  send(message: Message | Message[]): Awaitable<void> {
    try {
      return this.#stream.send(message)
    } catch (error) {
      const isGone = error instanceof ConnectionError && error.reason === 'closed' && this.#closing === undefined
      if (!isGone) throw error
      return this.#whyGone().then((reason) => {
        throw reason
      })
    }
  }

  async receive(receiver: (item: Decoded) => Awaitable<void>): Promise<void> {
    const reading = this.#stream.receive(receiver).then(
      () => undefined,
      (error: unknown) => error,
    )
    this.#isReading = true
    const problem = await Promise.race([reading, this.#exited])
    if (problem !== undefined && !(problem instanceof ConnectionError)) throw problem
    const reason = this.#closing === undefined ? await this.#whyGone() : undefined
    if (this.#closing !== undefined) await reading
    else throw reason
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { command, times, report } = this.#options
    const started = performance.now()
    await this.#stream.endOutput()
    // What the process still writes is read: if it cannot write, it does not end.
    if (!this.#isReading) this.#child.stdout.resume()
    const end = this.#hasExited ? 0 : Math.max(0, times.end - (performance.now() - started))
    const isGone = await endTree(this.#tree, { ...times, end })
    forgetTree(this.#child)
    if (!isGone) {
      const hint = `Look for the process group ${this.#child.pid}.`
      report(new ConnectionError('timeout', `Processes that ${command} started are still alive`, { hint }))
    }
    await withinTime(this.#drained, LAG)
    await this.#stream.close()
    // What still holds the other ends must not keep this process alive.
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy()
  }

  get #hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** What is known of the exit, once all that was written is known; or that the process goes on without its streams. */
  #whyGone(): Promise<ConnectionError> {
    this.#failure ??= this.#readExit()
    return this.#failure
  }

  async #readExit(): Promise<ConnectionError> {
    const { command, tail } = this.#options
    const hasExited = this.#hasExited || (await withinTime(this.#exited, LAG))
    if (hasExited) await withinTime(this.#drained, LAG)
    const { exitCode, signalCode } = this.#child
    const exit = new ServerExitError(exitCode, signalCode, tail.lines())
    const reason = hasExited ? exitedError(command, exit) : deafError(command)
    this.#tellGone(reason)
    await new Promise<void>((resolve) => void setImmediate(resolve))
    return reason
  }
}
