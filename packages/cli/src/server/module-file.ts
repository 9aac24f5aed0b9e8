/** Loads a server from a file of TypeScript or JavaScript. */

import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isObject, type Responder } from '@mcpx/protocol'
import { CliError, usageError } from '../output/errors.ts'
import { describePlace } from './error-place.ts'

/** A loaded server: an object of `createServer`, or an HTTP app such as the result of `mcp(server)`. */
export type LoadedServer =
  | { readonly kind: 'server'; readonly server: Responder }
  | { readonly kind: 'app'; readonly fetch: (request: Request) => Response | Promise<Response> }

/** Returns whether a file serves over standard input and output by itself. Such a file must run as a process. */
export async function servesItself(path: string): Promise<boolean> {
  const source = await readFile(path, 'utf8')
  return /\bserveStdio\s*\(|\bStdioServerTransport\b|\bStdioTransport\b/.test(source)
}

/**
 * Imports a file and returns the server that it exports, as `default` or as `server`. If one is a server and the other
 * an app, returns the preferred kind.
 *
 * @param preferred default: the kind of the default export
 * @throws CliError if the file fails, or exports no server
 */
export async function loadServer(path: string, preferred?: LoadedServer['kind']): Promise<LoadedServer> {
  const exports = await importFile(path)
  // The exports of a CommonJS module are also its default export.
  const inner = isObject(exports.default) ? (exports.default as Record<string, unknown>) : {}
  const all = [exports.default, exports.server, inner.default, inner.server].flatMap((each) => readExport(each) ?? [])
  const loaded = all.find(({ kind }) => kind === preferred) ?? all[0]
  if (loaded !== undefined) return loaded
  const names = Object.keys(exports)
  const found = names.length === 0 ? 'exports nothing' : `exports ${names.join(', ')}`
  const remedy =
    'Write: export const server = createServer(…), or export default mcp(server). To run it as a program, write: -- node'
  throw usageError(`${path} ${found}, and no server`, `${remedy} ${path}`)
}

function readExport(value: unknown): LoadedServer | undefined {
  const { respond, fetch } = (value ?? {}) as { respond?: unknown; fetch?: unknown }
  if (typeof respond === 'function') return { kind: 'server', server: value as Responder }
  if (typeof fetch !== 'function') return undefined
  const app = value as { fetch(request: Request): Response | Promise<Response> }
  return { kind: 'app', fetch: (request) => app.fetch(request) }
}

/**
 * Errors of Node for files that a newer Node or a compiler can load. After such an error, no code of the file has run.
 */
const NEEDS_COMPILER = ['ERR_UNKNOWN_FILE_EXTENSION', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX', 'ERR_MODULE_NOT_FOUND']

async function importFile(path: string): Promise<Record<string, unknown>> {
  try {
    return await importOrCompile(path)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const isPackage = code === 'ERR_MODULE_NOT_FOUND' && /package/.test(message)
    const hint = isPackage ? 'Install its dependencies.' : await describePlace(cause, path)
    throw new CliError('connection', `${path} cannot be loaded: ${message}`, hint, cause)
  }
}

/** Imports a module. Node 22.18 and newer load TypeScript; jiti compiles it for older versions, and unsupported syntax. */
async function importOrCompile(path: string): Promise<Record<string, unknown>> {
  const { href } = pathToFileURL(path)
  try {
    return await import(href)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!/^\.[cm]?tsx?$|\.jsx$/.test(extname(path)) || code === undefined || !NEEDS_COMPILER.includes(code)) throw error
    const { createJiti } = await import('jiti')
    return createJiti(path, { interopDefault: false })
      .import<Record<string, unknown>>(href)
      .catch((failure: NodeJS.ErrnoException) => {
        // Throw the error of Node, whose message is better.
        throw failure.code === 'MODULE_NOT_FOUND' && code === 'ERR_MODULE_NOT_FOUND' ? error : failure
      })
  }
}
