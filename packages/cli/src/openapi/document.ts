/** Loads descriptions of HTTP APIs: OpenAPI 3.0 and 3.1, as JSON or YAML, from a file, a URL or standard input. */

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text as readStream } from 'node:stream/consumers'
import { isObject } from '@mcpx/protocol'
import { resolveReference } from '../input/schema-view.ts'
import { CliError, usageError } from '../output/errors.ts'
import type { Terminal } from '../output/terminal.ts'

/** A description of an API. */
export interface ApiDocument {
  /** The title, which is never empty. */
  readonly title: string
  readonly version: string
  /** The URL of the first server of the description, if it is absolute. */
  readonly baseUrl: string | undefined
  /** The whole description. */
  readonly root: Record<string, unknown>
}

/** The largest description, in characters. The description of GitHub has 12 MB. */
const MAX_CHARACTERS = 50_000_000
const TIMEOUT = 60_000
/** The largest number of references that lead to further references. */
const MAX_REFERENCES = 50

/**
 * Loads a description. `headers` are sent to its URL. Rejects with a `CliError` that says why the description cannot be
 * used.
 */
export async function loadDocument(
  spec: string,
  terminal: Terminal,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiDocument> {
  const text = await readText(spec, terminal, headers)
  if (text.length > MAX_CHARACTERS) {
    throw usageError(`${spec}: expected at most ${MAX_CHARACTERS} characters, got ${text.length}`)
  }
  const root = await parse(spec, text)
  if (!isObject(root))
    throw usageError(`${spec}: expected an OpenAPI description, got ${Array.isArray(root) ? 'a list' : typeof root}`)
  if (typeof root.swagger === 'string') {
    const remedy = 'Convert it, for example with "npx swagger2openapi", or ask for the newer description.'
    throw usageError(`${spec}: expected OpenAPI 3.0 or 3.1, got Swagger ${root.swagger}`, remedy)
  }
  if (typeof root.openapi !== 'string' || !/^3\.[01]\./.test(`${root.openapi}.`)) {
    throw usageError(
      `${spec}: expected OpenAPI 3.0 or 3.1 in the member "openapi", got ${JSON.stringify(root.openapi) ?? 'none'}`,
    )
  }
  if (!isObject(root.paths)) throw usageError(`${spec}: expected the paths of the API in the member "paths", got none`)
  const { title, version } = isObject(root.info) ? root.info : {}
  return {
    title: typeof title === 'string' && title.trim() !== '' ? title.trim() : 'API',
    version: typeof version === 'string' ? version : String(version ?? ''),
    baseUrl: baseUrlOf(root.servers, spec),
    root,
  }
}

/**
 * Resolves a reference: returns the object that `value` refers to, or `value` itself. Throws if the reference names
 * another file or a missing place, or is circular.
 */
export function dereference(value: unknown, root: unknown, place: string): Record<string, unknown> {
  let found = value
  for (let count = 0; count < MAX_REFERENCES; count++) {
    if (!isObject(found))
      throw usageError(`${place}: expected an object, got ${JSON.stringify(found)?.slice(0, 80) ?? 'nothing'}`)
    if (typeof found.$ref !== 'string') return found
    found = findReference(found.$ref, root, place)
  }
  throw usageError(`${place}: expected a description, got references that lead in a circle`)
}

/** Returns the value that a reference refers to. */
export function findReference(reference: string, root: unknown, place: string): unknown {
  const shown = JSON.stringify(reference.slice(0, 120))
  if (!reference.startsWith('#')) {
    const remedy = 'Combine the files first, for example with "npx @redocly/cli bundle".'
    throw usageError(`${place}: expected a reference within the file, got ${shown}`, remedy)
  }
  const found = resolveReference(reference, root)
  if (found === undefined) throw usageError(`${place}: the reference ${shown} leads nowhere`)
  return found
}

async function readText(
  spec: string,
  { cwd, stdin, signal }: Terminal,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  if (spec === '-') return readStream(stdin)
  if (!/^https?:\/\//i.test(spec)) {
    return readFile(resolve(cwd, spec), 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw usageError(`${spec} cannot be read: ${error.code ?? error.message}`)
    })
  }
  const { username, password, origin } = URL.canParse(spec) ? new URL(spec) : { username: '', password: '', origin: '' }
  if (username !== '' || password !== '') {
    const remedy = 'Pass them by --header "Authorization: Basic …".'
    throw usageError(`${origin}: expected a URL without a user name and a password`, remedy)
  }
  try {
    const response = await fetch(spec, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]) })
    if (response.ok) return await response.text()
    throw new CliError('connection', `${spec}: expected a description, got the status ${response.status}`)
  } catch (error) {
    if (error instanceof CliError) throw error
    const { message, cause } = error as Error & { readonly cause?: { readonly code?: string } }
    throw new CliError('connection', `${spec} cannot be loaded: ${cause?.code ?? message}`)
  }
}

async function parse(spec: string, text: string): Promise<unknown> {
  const isJson = /^\s*[{[]/.test(text)
  try {
    if (isJson) return JSON.parse(text)
  } catch {
    // YAML may also begin with a bracket. The YAML parser names the line of a mistake.
  }
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text, { prettyErrors: true })
  const [problem] = document.errors
  if (problem !== undefined)
    throw usageError(`${spec} is not valid ${isJson ? 'JSON' : 'YAML'}: ${problem.message.split('\n')[0]}`)
  try {
    return document.toJS({ maxAliasCount: 1_000 })
  } catch (error) {
    throw usageError(`${spec} is not valid YAML: ${(error as Error).message}`)
  }
}

/**
 * Returns the URL of the first server with the defaults of its variables. A relative URL is resolved with the URL of
 * the description.
 */
function baseUrlOf(servers: unknown, spec: string): string | undefined {
  const [first] = Array.isArray(servers) ? servers : []
  if (!isObject(first) || typeof first.url !== 'string') return undefined
  const variables = isObject(first.variables) ? first.variables : {}
  const text = first.url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
    return isObject(variable) && typeof variable.default === 'string' ? variable.default : whole
  })
  const base = /^https?:/i.test(spec) ? spec : undefined
  // Use "/" for an empty URL. An empty URL would resolve to the URL of the description, whose query may contain
  // credentials.
  const location = text === '' ? '/' : text
  if (!URL.canParse(location, base)) return undefined
  const url = new URL(location, base)
  return /^https?:$/.test(url.protocol) && url.username === '' ? url.href : undefined
}
