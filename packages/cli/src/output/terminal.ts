/** The streams, the environment and the signals that a command uses. */

import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { fileURLToPath } from 'node:url'
import { ExitCode } from './errors.ts'

/** The streams, environment and signals of the program. Commands use this interface instead of `process`. */
export interface Terminal {
  /** Standard input. */
  readonly stdin: Readable & Partial<Pick<ReadStream, 'isTTY' | 'setRawMode'>>
  /** Receives the results of commands. */
  readonly stdout: Writable & Partial<Pick<WriteStream, 'isTTY' | 'hasColors' | 'columns'>>
  /** Receives notes, questions and errors. */
  readonly stderr: Writable & Partial<Pick<WriteStream, 'isTTY' | 'hasColors' | 'columns'>>
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder that paths are relative to. */
  readonly cwd: string
  /** The platform, which determines the paths of settings. */
  readonly platform: NodeJS.Platform
  /** The command that starts `mcpx` in another process, for servers that run in their own process. */
  readonly program: readonly [command: string, ...args: string[]]
  /** Aborted at Ctrl-C and SIGTERM. The process then ends soon. A second Ctrl-C ends it at once. */
  readonly signal: AbortSignal
  /** Calls a function at Ctrl-C instead of aborting the signal, until the returned function is called. */
  onInterrupt(callback: () => void): () => void
  /** Whether the user can answer prompts: standard input and standard error are terminals. */
  readonly isInteractive: boolean
  /** Returns the width of an output, in columns. Default for outputs that are not a terminal: 80. */
  columns(stream: Terminal['stdout']): number
  /**
   * Redirects the output of other code from standard output to standard error. The results of commands are not
   * affected.
   */
  guardStdout(): void
  /** Resolves when all output was written. After that, the process may exit at any time. */
  finish(): Promise<void>
}

/** How long a command may take to end after it was interrupted, in ms. Server processes have 5 s to end. */
const EXIT_TIMEOUT = 6_000

/**
 * Returns the terminal of this process. Call it once.
 *
 * @param main the URL of the program `mcpx`
 */
export function processTerminal(main: URL): Terminal {
  const { stdin, stderr, env, platform } = process
  // Write with a separate object, because `guardStdout` replaces the method of `process.stdout`.
  const stdout = Object.create(process.stdout, {
    write: { value: process.stdout.write.bind(process.stdout) },
  }) as typeof process.stdout
  let isFinished = false
  const exit = (code: number): void => {
    isFinished = true
    process.exit(code)
  }
  // The file of a server runs in this process. It may call `process.exit`, or its import may never end.
  process.once('exit', (code) => {
    if (isFinished) return
    const reason = code === 0 ? 'exited, or waits for something that never happens' : `exited with code ${code}`
    stderr.write(`error: The command did not finish: the file of the server ${reason}\n`)
    process.exitCode = ExitCode.connection
  })
  const interruption = new AbortController()
  let onInterrupt: (() => void) | undefined
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (name === 'SIGINT' && onInterrupt !== undefined) return onInterrupt()
      if (interruption.signal.aborted) exit(ExitCode.interrupted)
      interruption.abort(new Error(`Interrupted by ${name}`))
      setTimeout(exit, EXIT_TIMEOUT, ExitCode.interrupted).unref()
    })
  }
  // The reader of standard output, such as `head`, has closed the pipe.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    exit(error.code === 'EPIPE' ? ExitCode.success : ExitCode.bug),
  )
  stderr.on('error', () => {})
  return {
    stdin,
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    platform,
    program: [process.execPath, ...process.execArgv, fileURLToPath(main)],
    signal: interruption.signal,
    onInterrupt(callback) {
      onInterrupt = callback
      return () => {
        onInterrupt = undefined
      }
    },
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    columns: (stream) => stream.columns ?? 80,
    guardStdout() {
      process.stdout.write = stderr.write.bind(stderr)
    },
    async finish() {
      await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))))
      isFinished = true
    },
  }
}
