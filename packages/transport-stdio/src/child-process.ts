/** Starts the process of a server, connects to it, and ends it with the connection. */

import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  type Awaitable,
  type Connection,
  ConnectionError,
  type ConnectOptions,
  type Decoded,
  type Message,
  quoted,
} from '@mcpx/protocol'
import crossSpawn from 'cross-spawn'
import { childEnvironment } from './environment.ts'
import { type EndTreeTimes, endTree, forgetTree, type ProcessTree, processTree } from './process-tree.ts'
import { exitedError, ServerExitError, stdioClosedError } from './server-exit.ts'
import type { SpawnOptions } from './spawn.ts'
import { followStderr } from './stderr.ts'
import {
  completesWithin,
  connectOver,
  type ObservedChannel,
  StreamChannel,
  type StreamChannelOptions,
} from './stream-channel.ts'

export type ServerProcess = ChildProcessByStdio<Writable, Readable, Readable>

export interface ProcessConnectOptions extends ConnectOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly options: SpawnOptions
  /** Called when the process exits by itself. `lifetime` is in ms. */
  readonly onExit: (lifetime: number) => void
}

const END_TIMEOUT = 2_000
const TERMINATE_TIMEOUT = 2_000
const KILL_TIMEOUT = 1_000

/**
 * Starts a process and connects to it. Rejects with `ConnectionError` (reason `unreachable`) if it cannot be started.
 */
export async function connectToProcess(start: ProcessConnectOptions): Promise<Connection> {
  const { command, options, responder, onWarning: report, onMessage, onExit } = start
  const { end = END_TIMEOUT, terminate = TERMINATE_TIMEOUT, kill = KILL_TIMEOUT } = options.shutdown ?? {}
  const cwd = options.cwd instanceof URL ? fileURLToPath(options.cwd) : (options.cwd ?? process.cwd())
  const child = await startProcess(start, cwd)
  const channel = new ProcessChannel({
    child,
    command,
    cwd,
    stderrLines: followStderr(child.stderr, options.stderr ?? 'inherit', report),
    times: { end, terminate, kill },
    maxLineLength: options.maxLineLength,
    maxUnsent: options.maxUnsent,
    onStray: (line) => report(strayLineError(line)),
    onExit,
    report,
  })
  return connectOver(channel, { responder, onWarning: report, onMessage, limits: options.limits })
}

async function startProcess({ command, args, options }: ProcessConnectOptions, cwd: string): Promise<ServerProcess> {
  const isWindows = process.platform === 'win32'
  if (isWindows) refuseLineBreaks(command, args)
  try {
    const child = crossSpawn(command, args, {
      cwd,
      env: childEnvironment(options.env ?? {}, process.env, process.platform),
      stdio: ['pipe', 'pipe', 'pipe'],
      // On POSIX, create a process group, so that all processes that the server starts can be ended with it. On
      // Windows, this option would open a window.
      detached: !isWindows,
      windowsHide: true,
    })
    await once(child, 'spawn')
    // No stream is null, because `stdio` is `pipe`.
    return child as ServerProcess
  } catch (cause) {
    throw startError(command, cwd, cause as NodeJS.ErrnoException)
  }
}

/**
 * Throws for arguments with line breaks. `cmd.exe`, which runs all files except `.exe` and `.com`, ends a command at a
 * line break and runs the rest as another command.
 */
function refuseLineBreaks(command: string, args: readonly string[]): void {
  if (/\.(?:exe|com)$/i.test(command) || !args.some((arg) => /[\r\n]/.test(arg))) return
  throw new TypeError(
    `A batch file (${command}) cannot be given an argument with a line break; if it is a program, name its .exe file`,
  )
}

function startError(command: string, cwd: string, cause: NodeJS.ErrnoException): ConnectionError {
  const hint = cause.code === 'ENOENT' ? notFoundHint(command, cwd) : 'Check that it is allowed to be executed.'
  const message = `The server ${quoted(command)} could not be started: ${cause.code ?? cause.message}`
  return new ConnectionError('unreachable', message, { hint, cause })
}

function notFoundHint(command: string, cwd: string): string {
  const [program, ...args] = command.trim().split(/\s+/).map(quoted)
  if (args.length > 0) {
    return `If its arguments are part of the command, pass them separately: spawn(${program}, [${args.join(', ')}]).`
  }
  return `Check that it is installed and in PATH, or pass its whole path, and that the folder ${cwd} exists.`
}

/**
 * Creates the warning for a line that is not a message. The server receives no error, because some servers exit when
 * they receive an error for a line that they logged by mistake.
 */
function strayLineError(line: string): ConnectionError {
  const hint = 'A server has to log to its standard error.'
  return new ConnectionError('invalid-message', `The server wrote a line that is not a message: ${quoted(line)}`, {
    hint,
  })
}

export interface ProcessChannelOptions extends Pick<StreamChannelOptions, 'maxLineLength' | 'maxUnsent' | 'onStray'> {
  readonly child: ServerProcess
  /** The command and its working directory, for error messages. */
  readonly command: string
  readonly cwd: string
  /** Returns the last lines of standard error. */
  readonly stderrLines: () => string[]
  readonly times: EndTreeTimes
  /** Called when the process exits by itself. `lifetime` is in ms. */
  readonly onExit: (lifetime: number) => void
  readonly report: (problem: Error) => void
}

/** How long to wait for the exit after the end of the output, and for the rest of the output after the exit, in ms. */
const LAG = 500

/**
 * A channel to a child process. If the process exits, errors name its exit as the reason. Closing the channel ends all
 * processes.
 */
export class ProcessChannel implements ObservedChannel {
  readonly lost: Promise<ConnectionError>
  #resolveLost: (reason: ConnectionError) => void = () => {}
  readonly #options: ProcessChannelOptions
  readonly #child: ServerProcess
  readonly #tree: ProcessTree
  readonly #stream: StreamChannel
  readonly #exited: Promise<void>
  /** Resolves when everything that the process wrote has been read. */
  readonly #drained: Promise<void>
  #startFailure: Error | undefined
  #isReading = false
  #closing: Promise<void> | undefined
  #lostReason: Promise<ConnectionError> | undefined

  constructor(options: ProcessChannelOptions) {
    const { child, times, maxLineLength, maxUnsent, onStray, onExit, report } = options
    const startTime = performance.now()
    this.#options = options
    this.#child = child
    this.#tree = processTree(child)
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => {
        if (this.#closing === undefined) onExit(performance.now() - startTime)
        resolve()
      })
      // On Windows, cross-spawn emits ENOENT instead of `exit` when `cmd.exe` did not find the command.
      child.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') return report(error)
        this.#startFailure = error
        resolve()
      })
    })
    this.#drained = new Promise((resolve) => void child.once('close', () => resolve()))
    this.#stream = new StreamChannel({
      input: child.stdout,
      output: child.stdin,
      flushTimeout: times.end,
      maxLineLength,
      maxUnsent,
      onStray,
    })
  }

  /** Rejects with the exit of the process if it has exited. */
  send(message: Message | Message[]): Awaitable<void> {
    try {
      return this.#stream.send(message)
    } catch (error) {
      const isGone = error instanceof ConnectionError && error.reason === 'closed' && this.#closing === undefined
      if (!isGone) throw error
      return this.#rejectLost()
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
    const reason = this.#closing === undefined ? await this.#readLostReason() : undefined
    if (this.#closing === undefined) throw reason
    await reading
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { command, times, report } = this.#options
    const startTime = performance.now()
    await this.#stream.endOutput()
    // Read the output until its end, because a process that cannot write does not exit.
    if (!this.#isReading) this.#child.stdout.resume()
    const end = this.#hasExited ? 0 : Math.max(0, times.end - (performance.now() - startTime))
    const isGone = await endTree(this.#tree, { ...times, end })
    forgetTree(this.#child)
    if (!isGone) {
      const hint = `Look for the process group ${this.#child.pid}.`
      report(new ConnectionError('timeout', `Processes that ${quoted(command)} started are still alive`, { hint }))
    }
    await completesWithin(this.#drained, LAG)
    await this.#stream.close()
    // Another process may still hold the other ends of the pipes. It must not keep this process running.
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy()
  }

  get #hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async #rejectLost(): Promise<never> {
    throw await this.#readLostReason()
  }

  #readLostReason(): Promise<ConnectionError> {
    this.#lostReason ??= this.#waitForExit()
    return this.#lostReason
  }

  /**
   * Resolves when the exit code and all of standard error are known, or when the process has closed its streams but
   * keeps running.
   */
  async #waitForExit(): Promise<ConnectionError> {
    const hasExited = this.#hasExited || (await completesWithin(this.#exited, LAG))
    if (hasExited) await completesWithin(this.#drained, LAG)
    const reason = hasExited ? this.#exitError() : stdioClosedError(this.#options.command)
    this.#resolveLost(reason)
    await setImmediate()
    return reason
  }

  #exitError(): ConnectionError {
    const { command, cwd, stderrLines } = this.#options
    if (this.#startFailure !== undefined) return startError(command, cwd, this.#startFailure)
    const { exitCode, signalCode } = this.#child
    return exitedError(command, new ServerExitError(exitCode, signalCode, stderrLines()))
  }
}
