/** Serves over standard input and output, or over two other byte streams. */

import { setInterval, setTimeout } from 'node:timers'
import {
  ConnectionError,
  checkNumbers,
  createDebugObserver,
  createDuplex,
  type DebugOption,
  type DuplexLimits,
  kindOf,
  LONGEST_TIMER,
  type Responder,
  refuseUnknownOption,
} from '@mcpx/protocol'
import type { ByteSink, ByteSource } from './lines.ts'
import { takeStdout } from './stdout-guard.ts'
import { StreamChannel, type StreamLimits } from './stream-channel.ts'

/** Options of `serveStdio`. */
export interface ServeStdioOptions extends StreamLimits {
  /** The input. Default: standard input. With standard input, serving also ends at SIGTERM and SIGINT. */
  readonly input?: ByteSource | undefined
  /** The output. It is closed when serving ends. Default: standard output, which stays open. */
  readonly output?: ByteSink | undefined
  /** Ends serving, as `close` does. */
  readonly signal?: AbortSignal | undefined
  /**
   * Whether output of other code to standard output is redirected to standard error, until the process exits. Default:
   * true. Ignored if `output` is set.
   */
  readonly guard?: boolean | undefined
  /**
   * Whether serving ends, as with `close`, when the parent process has exited and the input is still open. Checked every
   * 2,000 ms, except on Windows. Default: true. Ignored if `input` is set.
   */
  readonly parentDeath?: boolean | undefined
  /**
   * How long calls in progress may continue when serving ends, in ms. After this time, they are aborted. Default: 5,000.
   */
  readonly drainTimeout?: number | undefined
  /**
   * How long the process may take to exit after serving has ended, in ms. After this time, `process.exit()` is called.
   * `Infinity` disables this call. Default: 1,000. Ignored if `input` is set.
   */
  readonly exitTimeout?: number | undefined
  /** Limits of running and pending requests. */
  readonly limits?: Partial<DuplexLimits> | undefined
  /** Called with each error that was ignored, dropped or masked. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
  /**
   * Writes each message that is sent or received to standard error, as one line without secrets, in which long values
   * are cut. If it is a function, the function receives the lines instead. Default: whether the environment variable
   * `MCPX_DEBUG` is set.
   */
  readonly debug?: DebugOption | undefined
}

/** Resolves when serving has ended, for any reason. Never rejects. */
export interface Serving extends Promise<void> {
  /** Resolves when serving has ended: to the error that ended it, or to undefined after a regular end. */
  readonly closed: Promise<ConnectionError | undefined>
  /**
   * Ends serving: accepts no new calls, and waits up to `drainTimeout` for calls in progress. If it is called again, aborts
   * these calls immediately.
   */
  close(): Promise<void>
}

const DRAIN_TIMEOUT = 5_000
const EXIT_TIMEOUT = 1_000
const PARENT_CHECK_INTERVAL = 2_000

/**
 * Serves both eras on one connection. As the last line of a program, it keeps the program alive until the client
 * disconnects:
 *
 * ```ts
 * await serveStdio(server)
 * ```
 *
 * @throws TypeError if `server` is not a server, and for an unknown option
 * @throws RangeError for a number out of range
 */
export function serveStdio(server: Responder, options: ServeStdioOptions = {}): Serving {
  checkArguments(server, options)
  const { input, signal, parentDeath = true, drainTimeout = DRAIN_TIMEOUT, limits, onWarning: report } = options
  const onMessage = createDebugObserver('server', options.debug)
  const ownsProcess = input === undefined
  let isEnding = false
  const channel = openChannel(options)
  void channel.lost.then(() => {
    isEnding = true
  })
  const network = { transport: 'pipe' } as const
  const duplex = createDuplex(channel, {
    responder: server,
    network,
    drainTimeout,
    limits,
    onWarning: report,
    onMessage,
  })

  function close(): Promise<void> {
    if (isEnding) return duplex.close()
    isEnding = true
    return duplex.drain(drainTimeout)
  }

  const stopObserving = server.telemetry?.onServe?.(() => ({
    requests: duplex.load.running,
    sessions: duplex.session.state.revision === undefined ? 0 : 1,
    streams: 0,
  }))
  const onSignal = (): void => void close()
  const onParentDeath = (): void => {
    if (isEnding) return
    void close()
    try {
      report?.(new ConnectionError('closed', 'The process that started this server has exited (parentDeath)'))
    } catch {
      // An error of the callback must not end the process before running calls have finished.
    }
  }
  const stopWatching = ownsProcess && parentDeath ? watchParent(onParentDeath) : () => {}
  if (ownsProcess) for (const name of ['SIGTERM', 'SIGINT']) process.on(name, onSignal)
  signal?.addEventListener('abort', onSignal, { once: true })
  if (signal?.aborted === true) onSignal()

  async function untilClosed(): Promise<void> {
    await duplex.closed
    stopWatching()
    stopObserving?.()
    signal?.removeEventListener('abort', onSignal)
    if (!ownsProcess) return
    for (const name of ['SIGTERM', 'SIGINT']) process.removeListener(name, onSignal)
    exitAfter(options.exitTimeout ?? EXIT_TIMEOUT)
  }
  return Object.assign(untilClosed(), { closed: duplex.closed, close })
}

// The compiler compares these names with the interface.
const OPTION_NAMES: Readonly<Record<keyof ServeStdioOptions, true>> = {
  input: true,
  output: true,
  signal: true,
  guard: true,
  parentDeath: true,
  drainTimeout: true,
  exitTimeout: true,
  limits: true,
  onWarning: true,
  debug: true,
  maxLineLength: true,
  maxUnsent: true,
  flushTimeout: true,
}

function checkArguments(server: unknown, options: ServeStdioOptions): void {
  if (typeof (server as Partial<Responder> | undefined)?.respond !== 'function') {
    throw new TypeError(`serveStdio: expected a server, such as the result of createServer(), got ${kindOf(server)}`)
  }
  refuseUnknownOption('serveStdio', options, Object.keys(OPTION_NAMES))
  const { drainTimeout, exitTimeout, flushTimeout } = options
  checkNumbers('serveStdio: ', { drainTimeout, exitTimeout, flushTimeout })
}

function openChannel(options: ServeStdioOptions): StreamChannel {
  const { guard = true, maxLineLength, maxUnsent, flushTimeout } = options
  const { input = process.stdin as ByteSource, output = takeStdout(guard) } = options
  return new StreamChannel({ input, output, maxLineLength, maxUnsent, flushTimeout })
}

/**
 * Calls `onDeath` when the parent process has exited, which the system shows by assigning another parent. Returns a
 * function that stops the checks. There are no checks on Windows, where the parent never changes, and none if the
 * parent is process 1, which never exits.
 */
function watchParent(onDeath: () => void): () => void {
  const parent = process.ppid
  if (process.platform === 'win32' || parent === 1) return () => {}
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onDeath()
  }, PARENT_CHECK_INTERVAL)
  timer.unref()
  return () => clearInterval(timer)
}

/** Exits after a delay, because timers or connections of the user may keep the process running. */
function exitAfter(ms: number): void {
  if (ms <= LONGEST_TIMER) setTimeout(() => process.exit(), ms).unref()
}
