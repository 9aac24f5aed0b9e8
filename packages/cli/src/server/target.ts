/** Reads the argument `server` of the commands: a URL, a command, a file, a name in settings, or standard input. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { usageError } from '../output/errors.ts'

/** The placeholder for the command after `--`. A user cannot type it. */
export const SERVER_COMMAND = '\u0000'

/** The help of the argument `server`. */
export const SERVER_HELP =
  'a URL, a file that exports a server, a name in the settings of a host, or - ; or a command after --'

/** The server that a user named. */
export type Target =
  | { readonly kind: 'url'; readonly url: URL }
  | { readonly kind: 'command'; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'stdin' }

/** The names of files that can be loaded. */
export const SCRIPT = /\.[cm]?[jt]sx?$/

/**
 * Returns the kind of server that a word names. Reads no file, starts no process and sends no request.
 *
 * @param command the words after `--`, for the word `SERVER_COMMAND`
 * @throws CliError if the word cannot be a server; the error proposes the likely meaning
 */
export function readTarget(word: string, command: readonly string[] | undefined, cwd: string): Target {
  if (word === SERVER_COMMAND) {
    const [program, ...args] = command ?? []
    if (program === undefined)
      throw usageError('A command is missing after "--"', 'Example: mcpx list -- npx some-server')
    return { kind: 'command', command: program, args }
  }
  if (word === '-') return { kind: 'stdin' }
  if (/^https?:\/\//i.test(word)) return { kind: 'url', url: readUrl(word) }
  const path = resolve(cwd, word)
  if (SCRIPT.test(word)) {
    if (!existsSync(path)) throw usageError(`The file ${path} does not exist`)
    return { kind: 'file', path }
  }
  return { kind: 'name', name: word }
}

function readUrl(word: string): URL {
  if (!URL.canParse(word)) throw usageError(`${JSON.stringify(word)} is not a valid URL`)
  const url = new URL(word)
  if (url.username === '' && url.password === '') return url
  // Do not quote the URL, which contains a secret.
  throw usageError('The URL contains a name or a password', 'Pass them by --header or --token.')
}
