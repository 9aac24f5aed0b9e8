/** Explains errors to people: the code, its meaning, and a remedy. */

import { CliError } from '../output/errors.ts'
import type { ExplainedError } from './api.ts'

interface Explanation {
  readonly title: string
  readonly meaning: string
  readonly remedy: string
}

/** The codes of JSON-RPC errors. */
const CODES: Readonly<Record<number, Explanation>> = {
  [-32700]: {
    title: 'Parse error',
    meaning: 'The server could not read the message as JSON.',
    remedy: 'Look at the message in the log. A program that prints to standard output often causes this over stdio.',
  },
  [-32600]: {
    title: 'Invalid request',
    meaning:
      'The server does not accept the message, or not at this time: no session, an id in use, or a refused origin.',
    remedy: 'Read the message of the error. Connect again if the session has ended.',
  },
  [-32601]: {
    title: 'Method not found',
    meaning: 'The server does not have this method, or not in this revision of the protocol.',
    remedy: 'Compare the method with the capabilities of the server, or connect in the other era.',
  },
  [-32602]: {
    title: 'Invalid parameters',
    meaning: 'The server refuses the parameters: an argument is wrong, or there is no such tool, prompt or resource.',
    remedy: 'Compare the arguments with the schema. List the items again if they may have changed.',
  },
  [-32603]: {
    title: 'Internal error',
    meaning: 'The server failed while it handled the request. It may hide the reason behind an id.',
    remedy: 'Look into the log of the server, with the id of the message if there is one.',
  },
  [-32002]: {
    title: 'Resource not found',
    meaning: 'The server has no resource with this URI.',
    remedy: 'List the resources again, or check the variables of the template.',
  },
  [-32020]: {
    title: 'Header mismatch',
    meaning: 'An HTTP header of the request is missing, or differs from the body.',
    remedy: 'A proxy between here and the server may remove headers. Connect without it.',
  },
  [-32021]: {
    title: 'Missing client capability',
    meaning: 'The server needs a capability that this client did not declare. The data of the error names it.',
    remedy: 'On the server, test the capabilities of the client before you request input.',
  },
  [-32022]: {
    title: 'Unsupported protocol version',
    meaning: 'The server does not serve this revision. The data of the error lists those that it serves.',
    remedy: 'Connect with the era "auto", or with one of the listed revisions.',
  },
  [-32042]: {
    title: 'URL elicitation required',
    meaning: 'The server wants you to visit a URL before it handles the request.',
    remedy: 'Open the URL of the data, then send the request again.',
  },
  [-1]: {
    title: 'Rejected by the user',
    meaning: 'A question of the server was declined.',
    remedy: 'Call again and answer the question.',
  },
  403: {
    title: 'Insufficient scope',
    meaning: 'Your access token lacks scopes. The data of the error lists them.',
    remedy: 'Log in again, or pass a token with these scopes by --token.',
  },
  429: {
    title: 'Too many requests',
    meaning: 'The server limits how often it can be called.',
    remedy: 'Wait, then try again.',
  },
}

/** Codes that the server defines itself. */
const OTHER_CODE: Explanation = {
  title: 'Error of the server',
  meaning: 'The server defines this code itself.',
  remedy: 'Look it up in the documentation of the server.',
}

/** The reasons of a `ConnectionError`. */
const REASONS: Readonly<Record<string, Explanation>> = {
  closed: {
    title: 'Connection closed',
    meaning: 'The connection ended before the response arrived.',
    remedy: 'Try again: a new connection is opened.',
  },
  timeout: {
    title: 'Timeout',
    meaning: 'The server did not respond in time.',
    remedy: 'Start mcpx with a longer --timeout, or let the tool report progress, which restarts the time.',
  },
  cancelled: {
    title: 'Cancelled',
    meaning: 'The request was cancelled.',
    remedy: 'Send it again if you still need it.',
  },
  'invalid-message': {
    title: 'Protocol violation',
    meaning: 'The server sent a message that the protocol does not allow.',
    remedy: 'Look at the message in the log, and report it to the author of the server.',
  },
  limit: {
    title: 'Limit reached',
    meaning: 'The server sent or asked for more than this client accepts.',
    remedy: 'Report it to the author of the server if the amount is not what you expect.',
  },
  unreachable: {
    title: 'Server unreachable',
    meaning: 'No connection could be opened.',
    remedy: 'Check that the server is running and that the URL is right. "mcpx doctor" finds the reason.',
  },
  refused: {
    title: 'Refused by the server',
    meaning: 'The server refused the HTTP request before it read the message.',
    remedy: 'Check the URL, the headers and the token. "mcpx doctor" finds the reason.',
  },
  exited: {
    title: 'Server process exited',
    meaning: 'The process of the server ended.',
    remedy: 'Read its last output in the message of the error, then connect again.',
  },
  unsupported: {
    title: 'Not supported',
    meaning: 'The server or the revision does not support this request, so it was not sent.',
    remedy: 'Compare it with the capabilities of the server, or connect in the other era.',
  },
}

/** The members that errors of our packages may have. */
interface KnownError extends Error {
  readonly code?: number | string
  readonly data?: unknown
  readonly reason?: string
  readonly hint?: string
  readonly status?: number
}

/** Returns the error with its meaning and a remedy. If the error has a hint, the hint is the remedy. */
export function explainError(error: unknown): ExplainedError {
  if (!(error instanceof Error)) return { title: 'Error', message: String(error) }
  const { name, message, code, data, reason, hint, status, cause } = error as KnownError
  if (error instanceof CliError) {
    const inner = cause === undefined ? undefined : explainError(cause)
    const title = error.kind === 'unauthorized' ? 'Login needed' : (inner?.title ?? 'Error')
    return { ...inner, title, message, remedy: error.hint ?? inner?.remedy }
  }
  if (name === 'RpcError' && typeof code === 'number') {
    return { ...(CODES[code] ?? OTHER_CODE), code, message, data }
  }
  if (name === 'ConnectionError' && reason !== undefined) {
    const explanation = REASONS[reason]
    const title = explanation?.title ?? 'No connection'
    return {
      title,
      code: status ?? reason,
      message,
      meaning: explanation?.meaning,
      remedy: hint ?? explanation?.remedy,
    }
  }
  if (name === 'AuthError') {
    return { title: 'Login failed', message, meaning: 'The authorization server or the login in the browser failed.' }
  }
  if (name === 'ViewError') {
    return { title: 'View cannot be displayed', message, meaning: 'The server sent a view that a host must refuse.' }
  }
  return { title: name === 'Error' ? 'Error' : name, message, remedy: hint }
}
