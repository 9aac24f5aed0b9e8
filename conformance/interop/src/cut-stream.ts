/** A `fetch` that loses a stream in the middle, once. */

import type { Fetch } from './driver.ts'

export interface Cut {
  readonly fetch: Fetch
  readonly cuts: number
  /** The event ids by which streams were asked for again. */
  readonly resumed: readonly string[]
}

/** The stream breaks behind the first event that tells of progress. */
export function cutAfterProgress(): Cut {
  const resumed: string[] = []
  let cuts = 0
  return {
    resumed,
    get cuts() {
      return cuts
    },
    async fetch(input, init) {
      const lastEvent = new Headers(init?.headers).get('last-event-id')
      if (lastEvent !== null) resumed.push(lastEvent)
      const response = await fetch(input, init)
      const isCall = String(init?.body ?? '').includes('"slow"')
      if (!isCall || cuts > 0 || response.body === null) return response
      cuts += 1
      return new Response(cutBody(response.body), { status: response.status, headers: response.headers })
    },
  }
}

export interface ListeningCut {
  readonly fetch: Fetch
  /** Whether a stream of changes has been opened, and not yet been lost. */
  readonly isOpen: boolean
  /** Loses it. */
  now(): void
}

/** The stream breaks by which changes are told. */
export function cutListening(): ListeningCut {
  let cut: (() => void) | undefined
  let wasCut = false
  return {
    get isOpen() {
      return cut !== undefined && !wasCut
    },
    now() {
      wasCut = true
      cut?.()
    },
    async fetch(input, init) {
      const response = await fetch(input, init)
      const isListening = init?.method === 'GET' || String(init?.body ?? '').includes('subscriptions/listen')
      if (!isListening || !response.ok || response.body === null || cut !== undefined) return response
      const { readable, writable } = new TransformStream()
      const loss = new AbortController()
      cut = () => loss.abort(new TypeError('terminated'))
      response.body.pipeTo(writable, { signal: loss.signal }).catch(() => {})
      return new Response(readable, { status: response.status, headers: response.headers })
    },
  }
}

function cutBody(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let seen = ''
  return new ReadableStream({
    async pull(controller) {
      const isOver = seen.includes('notifications/progress') && seen.endsWith('\n\n')
      const { done, value } = isOver ? { done: true } : await reader.read()
      if (isOver) void reader.cancel()
      if (isOver) return controller.error(new TypeError('terminated'))
      if (done || value === undefined) return controller.close()
      seen += new TextDecoder().decode(value)
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
