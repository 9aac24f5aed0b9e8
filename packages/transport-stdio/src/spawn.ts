/** Starts a server as a child process and talks to it over its standard streams. */

import type { Connector } from '@mcpx/protocol'
import { createBackOff } from './back-off.ts'
import type { SpawnOptions } from './spawn-options.ts'

/** A server that can be started. */
export interface SpawnConnector extends Connector {
  /** The whole command line, to be shown to whoever has to agree to it. It may hold secrets given as arguments. */
  readonly peer: string
}

/**
 * Gives what a client connects to. Each connection starts the command anew, without a shell. Closing the connection
 * ends the process and all that it started.
 *
 * ```ts
 * const client = await connect(spawn('node', ['server.js'], { env: { API_KEY: key } }))
 * ```
 */
export function spawn(command: string, args: readonly string[] = [], options: SpawnOptions = {}): SpawnConnector {
  const backOff = createBackOff(options.restart)
  return {
    peer: [command, ...args].map(shown).join(' '),
    probeTimeout: options.probeTimeout,
    async connect(connectOptions) {
      // What starts processes is loaded by those who start one.
      const { startServer } = await import('./spawn-server.ts')
      await backOff.wait(connectOptions.signal)
      return startServer({ command, args, options, ...connectOptions, onExit: backOff.exited })
    },
  }
}

/** A word as one would type it; quoted only where it has to be. */
function shown(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word)
}
