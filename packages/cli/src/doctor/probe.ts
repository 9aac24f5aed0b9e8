/** Sends single HTTP requests as clients do, and describes the responses. */

import type { Diagnosis, FindingId } from './findings.ts'

/** A response, read up to a limit. */
export interface Probe {
  readonly status: number
  readonly headers: Headers
  /** The body, of at most 4 MiB. */
  readonly text: string
  /** Whether the body ended before the timeout. Streams often do not. */
  readonly isComplete: boolean
  /** The time until the response began, in ms. */
  readonly time: number
}

/** Options of `probe`. */
export interface ProbeOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  /** The timeout in ms. Default: 10,000. */
  readonly timeout?: number
  /** Whether the request includes the credentials. Default: true. */
  readonly withCredentials?: boolean
  /** Whether the body is read. Default: true. */
  readonly withBody?: boolean
  /** Stops reading when this expression matches the body. Default: reads to the end. */
  readonly until?: RegExp
}

const MAX_LENGTH = 4 * 1024 * 1024

/** The headers of a POST that the protocol requires. */
export const POST_HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

/** Sends requests to one server. */
export class Prober {
  readonly #credentials: Readonly<Record<string, string>>
  readonly #signal: AbortSignal
  readonly #timeout: number
  readonly #fetch: typeof fetch

  /** @param send sends the requests. Default: the global `fetch` */
  constructor(
    credentials: Readonly<Record<string, string>>,
    signal: AbortSignal,
    timeout = 10_000,
    send: typeof fetch = fetch,
  ) {
    this.#credentials = credentials
    this.#signal = signal
    this.#timeout = timeout
    this.#fetch = send
  }

  /** Sends a request, without following redirects. Rejects with the error of `fetch`. */
  async send(url: string | URL, options: ProbeOptions = {}): Promise<Probe> {
    const {
      method = 'GET',
      headers,
      body,
      timeout = this.#timeout,
      withCredentials = true,
      withBody = true,
      until,
    } = options
    const limit = AbortSignal.timeout(timeout)
    const start = performance.now()
    const response = await this.#fetch(url, {
      method,
      headers: { ...(withCredentials && this.#credentials), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.any([limit, this.#signal]),
    })
    const time = performance.now() - start
    if (!withBody) await response.body?.cancel()
    const { text, isComplete } = withBody ? await read(response, until) : { text: '', isComplete: false }
    this.#signal.throwIfAborted()
    return { status: response.status, headers: response.headers, text, isComplete, time }
  }

  /** Sends a JSON-RPC message by POST. */
  post(url: string | URL, message: object, headers: Readonly<Record<string, string>> = {}): Promise<Probe> {
    const until = 'id' in message ? new RegExp(`"id"\\s*:\\s*"?${String(message.id)}"?[^\\n]*\\n\\r?\\n`) : undefined
    return this.send(url, {
      method: 'POST',
      headers: { ...POST_HEADERS, ...headers },
      body: message,
      ...(until !== undefined && { until }),
    })
  }
}

async function read(response: Response, until: RegExp | undefined): Promise<Pick<Probe, 'text' | 'isComplete'>> {
  if (response.body === null) return { text: '', isComplete: true }
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { text: text + decoder.decode(), isComplete: true }
      text += decoder.decode(value, { stream: true })
      if (until?.test(text) === true || text.length > MAX_LENGTH) return { text, isComplete: false }
    }
  } catch {
    return { text, isComplete: false }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

const NETWORK: readonly (readonly [RegExp, FindingId])[] = [
  [/ENOTFOUND|EAI_AGAIN|ERR_INVALID_URL/, 'no-address'],
  [/CERT_HAS_EXPIRED/, 'certificate-expired'],
  [/ALTNAME_INVALID/, 'certificate-name'],
  [/SELF_SIGNED|UNABLE_TO|CERT_/, 'certificate-untrusted'],
  [/EPROTO|ERR_SSL|WRONG_VERSION_NUMBER/, 'tls-on-http'],
  [/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL/, 'no-connection'],
  [/TimeoutError|UND_ERR_(?:CONNECT|HEADERS)_TIMEOUT|ETIMEDOUT/, 'no-response'],
]

/** Records the finding for a network error. */
export function addNetworkError(diagnosis: Diagnosis, error: unknown, request: string): void {
  const texts: string[] = []
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    texts.push(cause.name, (cause as NodeJS.ErrnoException).code ?? '', cause.message)
  }
  const text = texts.join(' ')
  const [, id] = NETWORK.find(([pattern]) => pattern.test(text)) ?? [undefined, 'connection-lost' as const]
  diagnosis.add(id, `${request}: ${texts.findLast((each) => each !== '') ?? 'failed'}`)
}

/** Returns the first JSON-RPC message of a response with an id, from a JSON body or an event stream. */
export function messageOf({ headers, text }: Probe): unknown {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
  if (!isStream) return JSON.parse(text)
  const events = text.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trimStart())
      .join('\n'),
  )
  return events
    .filter((data) => data !== '')
    .map((data) => JSON.parse(data) as { id?: unknown })
    .find((message) => message.id !== undefined)
}

/** Returns the beginning of a body, in one line. */
export function excerptOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 100 ? `${line.slice(0, 100)}…` : line
}
