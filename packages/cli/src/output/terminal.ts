/** The streams, the environment and the signals that a command uses. */

import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { fileURLToPath } from 'node:url'

/** The surroundings of the program. Commands use it instead of `process`. */
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
  /** Determines where settings are. */
  readonly platform: NodeJS.Platform
  /** The command that starts `mcpx` again, for servers that run in a process of their own. */
  readonly program: readonly [command: string, ...args: string[]]
  /** Fires at Ctrl-C and SIGTERM. A second one ends the process at once. */
  readonly signal: AbortSignal
  /** Whether a user can be asked: standard input and standard error are a terminal. */
  readonly isInteractive: boolean
  /** Returns the width of an output, in columns. Default for outputs that are not a terminal: 80. */
  columns(stream: Terminal['stdout']): number
  /** Resolves when everything has been written. */
  flush(): Promise<void>
}

/**
 * Returns the terminal of this process. Call it once.
 *
 * @param main the URL of the program `mcpx`
 */
export function processTerminal(main: URL): Terminal {
  const { stdin, stdout, stderr, env, platform } = process
  const interruption = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (interruption.signal.aborted) process.exit(130)
      interruption.abort(new Error(`Interrupted by ${name}`))
    })
  }
  // A reader such as `head` has read enough.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 70))
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
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    columns: (stream) => stream.columns ?? 80,
    async flush() {
      await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))))
    },
  }
}
