/** What lies between `fetch` and an app: the client may leave in the midst of a response, and a response may be cut. */

import type { AnswersWatch } from './answers-watch.ts'

type Serve = (request: Request) => Response | Promise<Response>

export interface Network {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** The methods of all requests so far, in order. */
  readonly fetched: readonly string[]
  /** Breaks every response that has not ended; the server's end sees that nobody reads on. */
  readonly cut: () => void
}

/** @param watch sees all that passes. */
export function createNetwork(serve: Serve, watch: AnswersWatch): Network {
  const underWay = new Set<AbortController>()
  const fetched: string[] = []

  async function fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const breaking = new AbortController()
    const signal = init.signal ? AbortSignal.any([init.signal, breaking.signal]) : breaking.signal
    const done = () => void underWay.delete(breaking)
    underWay.add(breaking)
    fetched.push(init.method ?? 'GET')
    signal.addEventListener('abort', done)
    const broken = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      if (signal.aborted) reject(signal.reason)
    })
    const listen = watch.sent(typeof init.body === 'string' ? init.body : '')
    const response = await Promise.race([serve(new Request(input, { ...init, signal })), broken])
    if (response.body === null) {
      done()
      return response
    }
    const ear = listen(response.headers.get('content-type') ?? '')
    const decoder = new TextDecoder()
    const passing = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        ear.hear(decoder.decode(chunk, { stream: true }))
        controller.enqueue(chunk)
      },
      flush() {
        ear.end()
        done()
      },
    })
    return new Response(response.body.pipeThrough(passing, { signal }), response)
  }

  return {
    fetch,
    fetched,
    cut() {
      for (const breaking of [...underWay]) breaking.abort(new TypeError('fetch failed', { cause: brokenPipe() }))
    },
  }
}

function brokenPipe(): Error {
  return Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
}
