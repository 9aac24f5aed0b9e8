/** Starts a server as a child process and connects to it over its standard streams. */

import type { Connector } from '@mcpx/protocol'
import type { SpawnOptions } from './child-process.ts'
import { createRestartDelay } from './restart.ts'

/** Connects to a server by starting it. */
export interface SpawnConnector extends Connector {
  /** The whole command line, to show it to a user who has to approve it. It may contain secrets given as arguments. */
  readonly peer: string
}

/**
 * Creates a connector that starts the command, without a shell, for each connection. Closing the connection ends the
 * process and all processes that it started.
 *
 * ```ts
 * const client = await connect(spawn('node', ['server.js'], { env: { API_KEY: key } }))
 * ```
 */
export function spawn(command: string, args: readonly string[] = [], options: SpawnOptions = {}): SpawnConnector {
  const restartDelay = createRestartDelay(options.restart)
  return {
    peer: [command, ...args].map(quoteWord).join(' '),
    probeTimeout: options.probeTimeout,
    async connect(connectOptions) {
      // Loaded on demand, so that servers do not load the code that starts processes.
      const { connectToProcess } = await import('./child-process.ts')
      await restartDelay.wait(connectOptions.signal)
      return connectToProcess({ command, args, options, ...connectOptions, onExit: restartDelay.exited })
    },
  }
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word)
}
