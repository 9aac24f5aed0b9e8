/** Serves on standard input and output, or on any two byte streams, until the peer ends it or the process is told to stop. */

import { type Channel, type ConnectionError, createDuplex, type DuplexLimits, type Responder } from '@mcpx/protocol'
import { guardStdout, plainSink } from './stdout-guard.ts'
import { createStreamChannel, type StreamLimits } from './stream-channel.ts'
import type { ByteSink, ByteSource } from './streams.ts'

export interface ServeStdioOptions extends StreamLimits {
  /** What is read, until the serving ends. Default: standard input; SIGTERM and SIGINT then end the serving too. */
  readonly input?: ByteSource | undefined
  /** What is written; it is ended when the serving ends. Default: standard output, which is left open. */
  readonly output?: ByteSink | undefined
  /** Ends the serving as `close` does. */
  readonly signal?: AbortSignal | undefined
  /**
   * Keeps standard output clean: what other code logs or writes there goes to standard error, until the process ends.
   * Default: true. Of no meaning with an `output`.
   */
  readonly guard?: boolean | undefined
  /** How long running calls may go on after the end, in ms; then they are aborted. Default: 5,000. */
  readonly drainTimeout?: number | undefined
  /**
   * How long after the end the process may take to exit by itself, in ms; then it is made to, with `process.exitCode`
   * or 0. `Infinity`: for ever. Default: 1,000. Of no meaning with an `input`.
   */
  readonly exitTimeout?: number | undefined
  /** Bounds of what is running and waiting. */
  readonly limits?: Partial<DuplexLimits> | undefined
  /** Hears of everything that was ignored, dropped or masked. Default: nobody does. */
  readonly onReport?: ((problem: Error) => void) | undefined
}

/** Resolves when the serving has ended, whatever ended it. */
export interface Serving extends Promise<void> {
  /** Why it ended; nothing when the peer or this side ended it as one should. */
  readonly closed: Promise<ConnectionError | undefined>
  /** Takes no new calls, lets the running ones finish within `drainTimeout`, then ends. A second call aborts them at once. */
  close(): Promise<void>
}

const DRAIN_TIMEOUT = 5_000
const EXIT_TIMEOUT = 1_000

/**
 * Serves both eras at once. As the last line of a program it keeps the program alive until its client is done:
 *
 * ```ts
 * await serveStdio(server)
 * ```
 */
export function serveStdio(server: Responder, options: ServeStdioOptions = {}): Serving {
  const { drainTimeout = DRAIN_TIMEOUT, limits, onReport: report } = options
  let isEnding = false
  const inner = openChannel(options)
  const channel: Channel = {
    send: (message) => inner.send(message),
    close: () => inner.close(),
    async receive(receiver) {
      await inner.receive(receiver)
      isEnding = true
    },
  }
  const duplex = createDuplex(channel, { responder: server, drainTimeout, limits, report })

  function close(): Promise<void> {
    if (isEnding) return duplex.close()
    isEnding = true
    return duplex.drain(drainTimeout)
  }

  const forget = closeOnSignals(options, () => void close())
  const done = duplex.closed.then(() => {
    forget()
    if (options.input === undefined) exitWithin(options.exitTimeout ?? EXIT_TIMEOUT)
  })
  return Object.assign(done, { closed: duplex.closed, close })
}

function openChannel(options: ServeStdioOptions): Channel {
  const { guard = true, maxLineLength, maxUnsent, flushTimeout } = options
  const { input = process.stdin as ByteSource, output } = options
  const limits = { maxLineLength, maxUnsent, flushTimeout }
  if (output !== undefined) return createStreamChannel({ input, output, ...limits })
  const stdout = process.stdout as ByteSink
  const sink = guard ? guardStdout().sink : plainSink(stdout, stdout.write.bind(stdout))
  return createStreamChannel({ input, output: sink, ...limits })
}

/** Returns what takes the listeners away again. */
function closeOnSignals({ input, signal }: ServeStdioOptions, close: () => void): () => void {
  const names = input === undefined ? (['SIGTERM', 'SIGINT'] as const) : []
  for (const name of names) process.on(name, close)
  signal?.addEventListener('abort', close, { once: true })
  if (signal?.aborted === true) close()
  return () => {
    for (const name of names) process.removeListener(name, close)
    signal?.removeEventListener('abort', close)
  }
}

/** Timers and connections of user code must not keep a process alive that has nobody left to serve. */
function exitWithin(ms: number): void {
  if (ms === Number.POSITIVE_INFINITY) return
  setTimeout(() => process.exit(), ms).unref()
}
