/** Fetches JSON from a server that is not trusted to be quick, small, or where it says that it is. */

export type Fetch = (input: string, init: RequestInit) => Promise<Response>

export interface DocumentOptions {
  readonly fetch?: Fetch | undefined
  /** How long the whole may take, in ms. Default: 5,000. */
  readonly timeout?: number | undefined
  /** How large it may be, in bytes. Default: 262,144. */
  readonly maxBytes?: number | undefined
  readonly init?: RequestInit | undefined
}

export interface JsonDocument {
  readonly status: number
  readonly body: unknown
}

/** Why there is no document. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
}

const TIMEOUT = 5_000
const MAX_BYTES = 256 * 1024

/** Follows no redirect: where a document is, is for whoever configured it to say. Rejects with a `DocumentError`. */
export async function fetchJson(url: string, options: DocumentOptions = {}): Promise<JsonDocument> {
  const { timeout = TIMEOUT, maxBytes = MAX_BYTES, init } = options
  const fetchOne: Fetch = options.fetch ?? ((input, request) => globalThis.fetch(input, request))
  const ending = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new DocumentError(`no answer within ${timeout} ms`))
      ending.abort()
    }, timeout)
  })
  const headers = new Headers(init?.headers)
  if (!headers.has('accept')) headers.set('accept', 'application/json')
  const read = async (): Promise<JsonDocument> => {
    const response = await fetchOne(url, { ...init, headers, redirect: 'manual', signal: ending.signal })
    const text = await readText(response, maxBytes)
    return { status: response.status, body: response.ok ? parse(text) : undefined }
  }
  try {
    return await Promise.race([read(), late])
  } catch (cause) {
    ending.abort()
    throw cause instanceof DocumentError ? cause : new DocumentError('it cannot be reached', { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** The document, where it is an object and was answered with 200. */
export async function fetchObject(url: string, options?: DocumentOptions): Promise<Record<string, unknown>> {
  const { status, body } = await fetchJson(url, options)
  if (status !== 200) throw new DocumentError(`it was answered with status ${status}`)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new DocumentError('it is no JSON object')
  return body as Record<string, unknown>
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const tooLarge = () => new DocumentError(`it is larger than ${maxBytes} bytes`)
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel()
    throw tooLarge()
  }
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  // Leaving the loop by a throw cancels the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge()
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new DocumentError('it is no JSON', { cause })
  }
}
