/** Errors about a server process that has exited, or that has closed its input or output. */

import { ConnectionError, quoted } from '@mcpx/protocol'

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

/** How many lines of standard error the message repeats. */
const SHOWN_LINES = 10

const RESTART_HINT = 'Pending requests are lost. The next call starts the server again.'

export function stdioClosedError(command: string): ConnectionError {
  const message = `The server ${quoted(command)} closed its input or output but keeps running, so it is ended`
  return new ConnectionError('closed', message, { hint: RESTART_HINT })
}

export function exitedError(command: string, exit: ServerExitError): ConnectionError {
  const last = exit.stderr.slice(-SHOWN_LINES).join('\n')
  const output = last === '' ? 'It wrote nothing to its standard error.' : `Last stderr output:\n${last}`
  const message = `The server ${quoted(command)} ${exit.message}. ${output}`
  const hint = `${RESTART_HINT} If it needs environment variables, pass them with \`env\`: it inherits only a few.`
  return new ConnectionError('exited', message, { cause: exit, hint })
}
