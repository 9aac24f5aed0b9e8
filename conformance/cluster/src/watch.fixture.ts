/** A `fetch` that watches the sessions of one client, and the messages on its streams. */

import { NEVER_CHANGED } from './node.fixture.ts'

/** The name for a change of the tool list, beside the URIs of resources. */
export const TOOLS = 'tools'

/** The problems that were seen. */
interface Problems {
  /** Handshakes after the first handshake of a client, and responses that say that a session is unknown. */
  readonly lostSessions: string[]
  /** Ids of events, and of responses and requests of the server, that a client received twice. */
  readonly repeatedMessages: string[]
}

/** How often a stream has sent each change. */
type StreamChanges = Map<string, number>

/** A message of the server. */
interface Received {
  readonly id?: unknown
  readonly method?: string
  readonly params?: { readonly uri?: string }
}

/** Watches one client. */
export class Watch {
  readonly #name: string
  readonly #problems: Problems
  /** All streams of a legacy session count as one stream, because the next stream continues a lost stream. */
  readonly #session = { ids: new Set<string>(), changes: new Map<string, number>() }
  readonly #streams: StreamChanges[] = [this.#session.changes]
  #handshakes = 0

  constructor(name: string, problems: Problems) {
    this.#name = name
    this.#problems = problems
  }

  readonly fetch: typeof fetch = async (input, init) => {
    // A session of HTTP+SSE ends with its stream.
    const isHandshake = String(init?.body ?? '').includes('"initialize"') && !String(input).includes('/sse')
    if (isHandshake) this.#handshakes += 1
    if (isHandshake && this.#handshakes > 1) this.#problems.lostSessions.push(`${this.#name}: another handshake`)
    const response = await fetch(input as string, init)
    const hasSession = new Headers(init?.headers).has('mcp-session-id')
    if (hasSession && response.status === 404) {
      this.#problems.lostSessions.push(`${this.#name}: ${init?.method} was answered with 404`)
    }
    if (response.headers.get('content-type') !== 'text/event-stream' || response.body === null) return response
    return new Response(this.#watch(response.body, hasSession), response)
  }

  /**
   * Returns the changes that a stream has sent more often than they happened, beyond the gaps: after a gap, everything
   * is sent once more, also the resource that never changes.
   *
   * @param happened how often each change may have happened
   */
  repeatedChanges(happened: ReadonlyMap<string, number>): string[] {
    return this.#streams.flatMap((changes) => {
      const gaps = changes.get(NEVER_CHANGED) ?? 0
      return [...changes]
        .filter(([change, count]) => change !== NEVER_CHANGED && count > (happened.get(change) ?? 0) + gaps)
        .map(([change, count]) => `${this.#name}: ${change} was sent ${count} times, with ${gaps} gaps`)
    })
  }

  #watch(body: NonNullable<Response['body']>, hasSession: boolean): ReadableStream<Uint8Array> {
    const { ids, changes } = hasSession ? this.#session : this.#startStream()
    const sees = (id: string) => {
      if (ids.has(id)) this.#problems.repeatedMessages.push(`${this.#name}: ${id}`)
      ids.add(id)
    }
    let rest = ''
    const watching = new TransformStream<string, string>({
      transform(chunk, controller) {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          if (line.startsWith('id: ')) sees(line)
          else if (line.startsWith('data: {')) readMessage(line.slice('data: '.length), sees, changes)
        }
        controller.enqueue(chunk)
      },
    })
    return body.pipeThrough(new TextDecoderStream()).pipeThrough(watching).pipeThrough(new TextEncoderStream())
  }

  #startStream() {
    const stream = { ids: new Set<string>(), changes: new Map<string, number>() }
    this.#streams.push(stream.changes)
    return stream
  }
}

function readMessage(text: string, sees: (id: string) => void, changes: StreamChanges): void {
  const { id, method, params } = JSON.parse(text) as Received
  if (id !== undefined) sees(`${method ?? 'response'} ${id}`)
  const change = method === 'notifications/tools/list_changed' ? TOOLS : params?.uri
  if (change !== undefined) changes.set(change, (changes.get(change) ?? 0) + 1)
}
