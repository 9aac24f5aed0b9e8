/** Connects `fetch` to an app in memory, with responses that the client can abort and the test can cut. */

import type { ResponseChecker } from './response-checker.ts'

type Serve = (request: Request) => Response | Promise<Response>

export interface Network {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** The methods of all requests so far, in order. */
  readonly fetched: readonly string[]
  /** Fails every open response; the server sees that the client has disconnected. */
  readonly cut: () => void
}

/** @param checker checks all responses. */
export function createNetwork(serve: Serve, checker: ResponseChecker): Network {
  const open = new Set<AbortController>()
  const fetched: string[] = []

  async function fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const cutController = new AbortController()
    const signal = init.signal ? AbortSignal.any([init.signal, cutController.signal]) : cutController.signal
    const done = () => void open.delete(cutController)
    open.add(cutController)
    fetched.push(init.method ?? 'GET')
    signal.addEventListener('abort', done)
    const broken = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      if (signal.aborted) reject(signal.reason)
    })
    const createListener = checker.sent(typeof init.body === 'string' ? init.body : '')
    const response = await Promise.race([serve(new Request(input, { ...init, signal })), broken])
    if (response.body === null) {
      done()
      return response
    }
    const listener = createListener(response.headers.get('content-type') ?? '')
    const decoder = new TextDecoder()
    const passing = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        listener.onText(decoder.decode(chunk, { stream: true }))
        controller.enqueue(chunk)
      },
      flush() {
        listener.onEnd()
        done()
      },
    })
    return new Response(response.body.pipeThrough(passing, { signal }), response)
  }

  return {
    fetch,
    fetched,
    cut() {
      for (const cutController of [...open]) cutController.abort(new TypeError('fetch failed', { cause: brokenPipe() }))
    },
  }
}

function brokenPipe(): Error {
  return Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
}
