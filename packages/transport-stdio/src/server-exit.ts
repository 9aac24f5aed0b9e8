/** What is known of a server process that stopped by itself. */

import { ConnectionError } from '@mcpx/protocol'

/** The cause of a `ConnectionError` with the reason `exited`. */
export class ServerExitError extends Error {
  override readonly name = 'ServerExitError'
  /** The exit code; null when a signal ended the process. */
  readonly exitCode: number | null
  /** The signal that ended the process, such as `SIGKILL`. */
  readonly signal: string | null
  /** The last lines that the process wrote to its standard error: at most 50, and 8,192 characters. */
  readonly stderr: readonly string[]

  constructor(exitCode: number | null, signal: string | null, stderr: readonly string[]) {
    super(signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`)
    this.exitCode = exitCode
    this.signal = signal
    this.stderr = stderr
  }
}

/** How much of the last words is repeated in the message. */
const SHOWN_LINES = 10

const HINT = 'What waited for an answer is lost. The next call starts the server again.'

/** The process lives, and there is no way left to talk to it. */
export function deafError(command: string): ConnectionError {
  const message = `The server ${command} closed its input or its output, and runs on without: it is ended`
  return new ConnectionError('closed', message, { hint: HINT })
}

export function exitedError(command: string, exit: ServerExitError): ConnectionError {
  const last = exit.stderr.slice(-SHOWN_LINES).join('\n')
  const words = last === '' ? 'It wrote nothing to its standard error.' : `Its last words:\n${last}`
  return new ConnectionError('exited', `The server ${command} ${exit.message}. ${words}`, { cause: exit, hint: HINT })
}
