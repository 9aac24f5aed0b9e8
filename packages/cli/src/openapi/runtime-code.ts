/** The functions that generated files contain: they send requests, encode bodies and shorten responses. */

import type { BodyKind } from './operations.ts'

/** Returns the code for the requests of a generated file, with the encodings of bodies that it uses. */
export function runtimeCode(kinds: ReadonlySet<BodyKind>): string {
  const encoders = [...kinds].sort().map((kind) => ENCODERS[kind])
  return [REQUEST, ...encoders].join('\n\n')
}

const ENCODERS: Readonly<Record<BodyKind, string>> = {
  json: `function jsonBody(value: unknown, type: string): Body | undefined {
  return value === undefined ? undefined : { type, data: JSON.stringify(value) }
}`,
  form: `function formBody(value: unknown): Body | undefined {
  if (value === undefined) return undefined
  const data = new URLSearchParams()
  for (const [name, each] of Object.entries(Object(value))) append(data, name, each)
  return { data }
}`,
  multipart: `function multipartBody(value: unknown): Body | undefined {
  if (value === undefined) return undefined
  const data = new FormData()
  for (const [name, each] of Object.entries(Object(value))) {
    for (const part of Array.isArray(each) ? each : [each]) data.append(name, textOf(part))
  }
  return { data }
}`,
  text: `function textBody(value: unknown, type: string): Body | undefined {
  return value === undefined ? undefined : { type, data: textOf(value) }
}`,
}

const REQUEST = `/** How long the API may take to respond, in ms. */
const TIMEOUT = 60_000
/** The longest text of a result and of an error, in characters. Longer text is cut. */
const MAX_RESULT = 100_000
const MAX_ERROR = 2_000

type Values = Readonly<Record<string, unknown>>

interface Outgoing {
  readonly headers: Headers
  readonly query: URLSearchParams
}

interface Body {
  readonly type?: string
  readonly data: string | URLSearchParams | FormData
}

interface ApiRequest {
  readonly method: string
  /** The path, with the names of \`pathValues\` in braces. */
  readonly path: string
  readonly pathValues?: Values
  readonly query?: Values
  readonly headers?: Values
  readonly cookies?: Values
  readonly body?: Body | undefined
  /** Add the credentials. */
  readonly security?: readonly ((request: Outgoing) => void)[]
  readonly signal: AbortSignal
}

/**
 * Sends a request. Returns the body of the response. Throws a ToolError for errors of the API, so that the model can
 * read them.
 */
async function callApi(request: ApiRequest): Promise<string> {
  const { method, path, pathValues = {}, query = {}, cookies = {}, body, security = [], signal } = request
  const place = \`\${method} \${path}\`
  const filled = path.replace(/\\{([^{}]+)\\}/g, (_, name: string) => pathSegment(name, pathValues[name]))
  const url = new URL(baseUrl.replace(/\\/+$/, '') + filled)
  for (const [name, value] of Object.entries(query)) append(url.searchParams, name, value)
  const headers = new Headers({ accept: 'application/json, */*;q=0.5' })
  for (const [name, value] of Object.entries(request.headers ?? {})) setHeader(headers, name, value)
  for (const [name, value] of Object.entries(cookies)) {
    if (value !== undefined) addCookie(headers, name, textOf(value))
  }
  if (body?.type !== undefined) headers.set('content-type', body.type)
  for (const addTo of security) addTo({ headers, query: url.searchParams })
  const options = { method, headers, body: body?.data ?? null, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]) }
  let response: Response
  let text: string
  try {
    // A redirect could send the credentials to another server.
    response = await fetch(url, { ...options, redirect: 'manual' })
    text = await readText(response)
  } catch (error) {
    signal.throwIfAborted()
    const { name, cause } = error as Error & { readonly cause?: { readonly code?: string } }
    throw new ToolError(\`\${place}: the API did not respond (\${cause?.code ?? name})\`)
  }
  if (response.ok) return text === '' ? \`\${place}: \${response.status}\` : shorten(text, MAX_RESULT)
  // Remove the query of a redirect, because it may contain credentials.
  const location = response.headers.get('location')?.replace(/[?#].*/s, '')
  const details = [location === undefined ? '' : \`location: \${location}\`, shorten(text, MAX_ERROR)].filter((each) => each !== '')
  throw new ToolError([\`\${place}: \${response.status} \${response.statusText}\`.trim(), ...details].join('\\n'))
}

function pathSegment(name: string, value: unknown): string {
  const segment = textOf(value)
  // Refuse "." and "..", which would change the path.
  if (/^\\.{0,2}$/.test(segment)) throw new ToolError(\`\${name}: expected a part of the path, got "\${segment}"\`)
  return encodeURIComponent(segment)
}

/** Adds a value: an array as several parameters, an object as \`name[key]\`. */
function append(target: URLSearchParams, name: string, value: unknown, isNested = false): void {
  if (typeof value !== 'object' || value === null) {
    if (value !== undefined) target.append(name, textOf(value))
    return
  }
  for (const [key, each] of Object.entries(value)) {
    const isList = Array.isArray(value) && !isNested && (typeof each !== 'object' || each === null)
    append(target, isList ? name : \`\${name}[\${key}]\`, each, true)
  }
}

function setHeader(headers: Headers, name: string, value: unknown): void {
  if (value === undefined) return
  try {
    headers.set(name, textOf(value))
  } catch {
    throw new ToolError(\`\${name}: expected the value of a header, got other characters\`)
  }
}

function addCookie(headers: Headers, name: string, value: string): void {
  const others = headers.get('cookie')
  const cookie = \`\${name}=\${encodeURIComponent(value)}\`
  headers.set('cookie', others === null ? cookie : \`\${others}; \${cookie}\`)
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
}

async function readText(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? 'text/plain'
  if (/json|text|xml|yaml|csv|javascript|form-urlencoded/i.test(type)) return response.text()
  const { size } = await response.blob()
  return size === 0 ? '' : \`\${size} bytes of \${type}\`
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : \`\${text.slice(0, length)}… (\${text.length - length} more characters)\`
}`
