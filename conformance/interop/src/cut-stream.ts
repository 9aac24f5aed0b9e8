/** `fetch` functions that cut a stream once. */

import type { Fetch } from './driver.ts'

export interface Cut {
  readonly fetch: Fetch
  /** The `last-event-id` of each resumed stream. */
  readonly resumed: readonly string[]
  /** The events of each stream of the call: its progress, and `answer`. */
  readonly streams: readonly (readonly (number | 'answer')[])[]
  /** Cuts the stream of the call. */
  now(): void
  /** Lets waiting requests resume the stream. */
  reopen(): void
}

/** Creates a `fetch` that can cut the response stream of a tool. */
export function cutCall(tool: string): Cut {
  const resumed: string[] = []
  const texts: string[] = []
  const loss = new AbortController()
  let reopen = () => {}
  const opened = new Promise<void>((resolve) => {
    reopen = resolve
  })
  return {
    resumed,
    get streams() {
      return texts.map(eventsIn)
    },
    now: () => loss.abort(new TypeError('terminated')),
    reopen: () => reopen(),
    async fetch(input, init) {
      const lastEvent = new Headers(init?.headers).get('last-event-id')
      if (lastEvent !== null) {
        resumed.push(lastEvent)
        await opened
      }
      const response = await fetch(input, init)
      const isCall = String(init?.body ?? '').includes(`"${tool}"`)
      if (response.body === null || !(isCall || lastEvent !== null)) return response
      const index = texts.push('') - 1
      const decoder = new TextDecoder()
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          texts[index] += decoder.decode(chunk, { stream: true })
          controller.enqueue(chunk)
        },
      })
      const signal = isCall ? { signal: loss.signal } : {}
      response.body.pipeTo(writable, signal).catch(() => {})
      return new Response(readable, { status: response.status, headers: response.headers })
    },
  }
}

function eventsIn(text: string): (number | 'answer')[] {
  const events = text.split(/\r?\n\r?\n/).flatMap((event) => /^data: ?(\{.*\})$/m.exec(event)?.[1] ?? [])
  return events.map((data) => {
    const { method, params } = JSON.parse(data) as { method?: string; params?: { progress: number } }
    return method === 'notifications/progress' && params !== undefined ? params.progress : 'answer'
  })
}

export interface ListeningCut {
  readonly fetch: Fetch
  /** The number of opened streams of changes. */
  readonly opened: number
  /** The number of requested streams of changes. */
  readonly requested: number
  /** Cuts the stream. */
  now(): void
}

/**
 * Creates a `fetch` that can cut the stream of changes.
 *
 * @param reopened the promise that delays further streams. Default: no delay.
 */
export function cutListening(reopened?: Promise<void>): ListeningCut {
  const loss = new AbortController()
  let opened = 0
  let requested = 0
  return {
    get opened() {
      return opened
    },
    get requested() {
      return requested
    },
    now: () => loss.abort(new TypeError('terminated')),
    async fetch(input, init) {
      const isListening = init?.method === 'GET' || String(init?.body ?? '').includes('subscriptions/listen')
      if (isListening) requested += 1
      if (isListening && opened > 0) await reopened
      const response = await fetch(input, init)
      if (!isListening || !response.ok || response.body === null) return response
      opened += 1
      if (opened > 1) return response
      const { readable, writable } = new TransformStream()
      response.body.pipeTo(writable, { signal: loss.signal }).catch(() => {})
      return new Response(readable, { status: response.status, headers: response.headers })
    },
  }
}
