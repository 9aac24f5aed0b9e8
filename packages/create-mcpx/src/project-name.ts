/** Names of npm packages, and the error of a project that cannot be created. */

import { isBuiltin } from 'node:module'

/** The reason of a `ProjectError`. */
export type ProjectErrorCode = 'folder-not-empty' | 'invalid-name' | 'not-a-folder' | 'usage'

/** The error of a project that cannot be created. The message names the place and one remedy. No file was written. */
export class ProjectError extends Error {
  override readonly name = 'ProjectError'
  /** The reason, for programs. */
  readonly code: ProjectErrorCode

  /** Creates the error. */
  constructor(code: ProjectErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Creates the error of an option whose value is not one of the known names. */
export function unknownValue(option: string, value: unknown, known: object): ProjectError {
  return new ProjectError('usage', `${option}: expected one of ${Object.keys(known).join(', ')}, got ${value}.`)
}

const MAX_LENGTH = 214
const SHOWN_LENGTH = 80

/** Throws a `ProjectError` unless npm accepts `name` for a new package. */
export function refuseName(name: string): void {
  const problem = problemOf(name)
  if (problem === undefined) return
  const shown = name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}…` : name
  const remedy = `Use a name such as ${packageNameOf(name)}.`
  throw new ProjectError(
    'invalid-name',
    `name: expected the name of an npm package, got ${JSON.stringify(shown)}, ${problem}. ${remedy}`,
  )
}

function problemOf(name: string): string | undefined {
  if (name.length > MAX_LENGTH) return `which is longer than ${MAX_LENGTH} characters`
  if (name !== name.toLowerCase()) return 'which has upper-case letters'
  if (!/^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/.test(name))
    return 'which has other characters than letters, digits, ".", "_", "~" and "-", or begins with "." or "_"'
  if (isBuiltin(name) || name === 'node_modules' || name === 'favicon.ico') return 'which is reserved'
  return undefined
}

/** Returns a valid package name that resembles the name of a folder, such as `my-server` for `My Server`. */
export function packageNameOf(folder: string): string {
  const name = folder
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9._~-]+/g, '-')
    .replace(/^[._-]+|(?<![._-])[._-]+$/g, '')
    .slice(0, MAX_LENGTH)
  return name === '' || problemOf(name) !== undefined ? 'my-server' : name
}
