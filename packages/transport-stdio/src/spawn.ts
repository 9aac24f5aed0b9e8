/** Starts a server as a child process and connects to it over its standard streams. */

import { type Connector, checkNumbers, type DuplexLimits, kindOf, quoted, refuseUnknownOption } from '@mcpx/protocol'
import { createRestartDelay, type RestartOptions } from './restart.ts'
import type { StreamLimits } from './stream-channel.ts'

/** How long each step of closing a server process may take, in ms. After this time, the next step follows. */
export interface ShutdownTimes {
  /** How long to wait after the standard input of the server was closed. Default: 2,000. */
  readonly end?: number | undefined
  /** How long to wait after SIGTERM (on Windows, which has no SIGTERM, after `taskkill /F`). Default: 2,000. */
  readonly terminate?: number | undefined
  /** How long to wait after SIGKILL. Default: 1,000. */
  readonly kill?: number | undefined
}

/**
 * Where the standard error of a server is sent: to the standard error of this process (`inherit`), nowhere (`ignore`),
 * to a function, or to a file. The text is not interpreted.
 */
export type StderrTarget = 'inherit' | 'ignore' | ((text: string) => void) | { readonly file: string | URL }

/** Options of `spawn`. */
export interface SpawnOptions extends Pick<StreamLimits, 'maxLineLength' | 'maxUnsent'> {
  /**
   * Additional environment variables for the server. It also receives a few variables that any program needs, such as
   * PATH and HOME; `undefined` removes such a variable. `env: process.env` passes all variables of this process.
   * Default: none.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The working directory of the server. Default: the working directory of this process. */
  readonly cwd?: string | URL | undefined
  /** Where the standard error of the server is sent. Text is appended to a file. Default: `inherit`. */
  readonly stderr?: StderrTarget | undefined
  /** How long each step of closing may take. Default: see `ShutdownTimes`. */
  readonly shutdown?: ShutdownTimes | undefined
  /**
   * The delays before a server that keeps exiting is started again. `false` disables the delays. Default: see
   * `RestartOptions`.
   */
  readonly restart?: RestartOptions | false | undefined
  /** How long the server may take to answer the request that determines its era, in ms. Default: 5,000. */
  readonly probeTimeout?: number | undefined
  /** Limits of running and pending requests. Default: see `DuplexLimits`. */
  readonly limits?: Partial<DuplexLimits> | undefined
}

/** A connector that starts a server process. */
export interface SpawnConnector extends Connector {
  /** The whole command line, so that a user can approve it. It may contain secrets that were passed as arguments. */
  readonly peer: string
}

/**
 * Creates a connector that starts the command, without a shell, for each connection. Closing the connection ends the
 * process and all processes that it started.
 *
 * ```ts
 * const client = await connect(spawn('node', ['server.js'], { env: { API_KEY: key } }))
 * ```
 *
 * @throws TypeError if the command or an argument is not a string, or for an unknown option
 * @throws RangeError for a number out of range
 */
export function spawn(command: string, args: readonly string[] = [], options: SpawnOptions = {}): SpawnConnector {
  checkArguments(command, args, options)
  const restartDelay = createRestartDelay(options.restart)
  return {
    peer: [command, ...args].map(quoteWord).join(' '),
    probeTimeout: options.probeTimeout,
    network: { transport: 'pipe' },
    async connect(connectOptions) {
      // Import on demand, so that servers do not load the code that starts processes.
      const { connectToProcess } = await import('./child-process.ts')
      await restartDelay.wait(connectOptions.signal)
      return connectToProcess({ command, args, options, ...connectOptions, onExit: restartDelay.exited })
    },
  }
}

// The compiler compares these names with the interface.
const OPTION_NAMES: Readonly<Record<keyof SpawnOptions, true>> = {
  env: true,
  cwd: true,
  stderr: true,
  shutdown: true,
  restart: true,
  probeTimeout: true,
  limits: true,
  maxLineLength: true,
  maxUnsent: true,
}

function checkArguments(command: unknown, args: unknown, options: SpawnOptions): void {
  if (typeof command !== 'string') throw new TypeError(`spawn: command: expected string, got ${kindOf(command)}`)
  if (!Array.isArray(args)) {
    const remedy = `write spawn(${quoted(command)}, ["first", "second"], options)`
    throw new TypeError(`spawn: args: expected an array of strings, got ${kindOf(args)}; ${remedy}`)
  }
  const wrong = args.findIndex((arg) => typeof arg !== 'string')
  if (wrong >= 0) throw new TypeError(`spawn: args[${wrong}]: expected string, got ${kindOf(args[wrong])}`)
  refuseUnknownOption('spawn', options, Object.keys(OPTION_NAMES), { environment: 'env' })
  const { probeTimeout, maxLineLength, maxUnsent, shutdown, restart } = options
  const { end, terminate, kill } = shutdown ?? {}
  const { delay, maxDelay, healthyAfter } = restart || {}
  checkNumbers('spawn: ', { probeTimeout, maxLineLength, maxUnsent })
  checkNumbers('spawn: shutdown.', { end, terminate, kill })
  checkNumbers('spawn: restart.', { delay, maxDelay, healthyAfter })
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word)
}
