/** The errors of commands: one sentence, one remedy, and an exit code that scripts can use. */

import type { Output } from './output.ts'

/** The exit codes of `mcpx`. */
export const ExitCode = {
  /** The command was successful. */
  success: 0,
  /** The tool returned an error, or a check found something. */
  failure: 1,
  /** The arguments are wrong: an unknown command, option, server, tool or argument. */
  usage: 2,
  /** The server could not be reached or started, or the connection was lost. */
  connection: 3,
  /** The server refused the request with an error of the protocol. */
  refused: 4,
  /** A login is required, has failed, or grants too few rights. */
  unauthorized: 5,
  /** The server did not respond in time. */
  timeout: 6,
  /** mcpx has a bug. */
  bug: 70,
  /** The user pressed Ctrl-C. */
  interrupted: 130,
} as const

/** An exit code of `mcpx`. */
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode]

/** The names of exit codes, as `--json` prints them. */
export type ErrorKind = Exclude<keyof typeof ExitCode, 'success'>

/** An error with a remedy. Commands throw it for every problem that a user can solve. */
export class CliError extends Error {
  override readonly name = 'CliError'
  /** Determines the exit code. */
  readonly kind: ErrorKind
  /** The remedy, as a sentence. */
  readonly hint: string | undefined

  constructor(kind: ErrorKind, message: string, hint?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.hint = hint
  }
}

/** Creates the error for wrong arguments. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError('usage', message, hint)
}

/**
 * Returns the error of a connection that could not be opened, with the server and a remedy. Other errors are returned as
 * they are.
 *
 * @param canLogin whether a browser may have been opened
 */
export function connectError(server: string, error: unknown, canLogin: boolean): unknown {
  if (!(error instanceof Error)) return error
  const { name, step, reason } = error as KnownError
  if (name === 'AuthError' && step === 'authorization' && !canLogin) {
    const remedy = `Run "mcpx login ${server}" in a terminal, or pass --token.`
    return new CliError('unauthorized', `${server} requires a login`, remedy, error)
  }
  if (name !== 'ConnectionError') return error
  const { kind, message, hint } = describeError(error)
  const isAway = reason === 'unreachable' && /^https?:/.test(server)
  const remedy = isAway
    ? 'Check that the server is running, and that the URL is right.'
    : hint?.replace('connectTimeout', '--connect-timeout')
  return new CliError(kind, `No connection to ${server}: ${message}`, remedy, error)
}

interface ErrorReport {
  readonly kind: ErrorKind
  readonly message: string
  readonly hint?: string | undefined
}

/** Writes the error: to standard error, or with `--json` as `{ "error": … }` to standard output. Returns the exit code. */
export function reportError(error: unknown, output: Output, signal: AbortSignal): ExitCode {
  if (signal.aborted) return ExitCode.interrupted
  const report = describeError(error)
  output.error(report)
  return ExitCode[report.kind]
}

/**
 * The members of the errors of all our packages. Errors are recognized by name, so that no package needs to be loaded.
 */
interface KnownError extends Error {
  readonly reason?: string
  readonly hint?: string
  readonly status?: number
  readonly step?: string
  readonly code?: number | string
}

function describeError(error: unknown): ErrorReport {
  if (!(error instanceof Error)) return { kind: 'bug', message: `A value was thrown that is not an Error: ${error}` }
  if (error instanceof CliError) return error
  // A callback of this program has failed, for example because an answer of the user is invalid.
  if (error.cause instanceof CliError) return error.cause
  const { name, message, hint, reason, status, code } = error as KnownError
  switch (name) {
    case 'AuthError':
      // The message of an `AuthError` already contains the hint.
      return { kind: 'unauthorized', message }
    case 'ConnectionError':
      return { kind: kindOfReason(reason, status), message, hint }
    case 'RpcError':
      return { kind: 'refused', message: `The server refused the request: ${message} (${code})`, hint }
    default:
      return { kind: 'bug', message: error.stack ?? message, hint: 'This is a bug of mcpx. Please report it.' }
  }
}

function kindOfReason(reason: string | undefined, status: number | undefined): ErrorKind {
  if (status === 401 || status === 403) return 'unauthorized'
  if (reason === 'timeout') return 'timeout'
  return reason === 'unsupported' ? 'refused' : 'connection'
}
