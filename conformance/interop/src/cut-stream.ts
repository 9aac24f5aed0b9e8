/** Ways to fetch that lose a stream in the middle, once. */

import type { Fetch } from './driver.ts'

export interface Cut {
  readonly fetch: Fetch
  /** The event ids by which streams were asked for again. */
  readonly resumed: readonly string[]
  /** What came over each stream of the call, event by event: its progress, and `answer`. */
  readonly streams: readonly (readonly (number | 'answer')[])[]
  /** Loses the stream of the call. */
  now(): void
  /** Lets who asks for the rest have it; they wait until then. */
  reopen(): void
}

/** The stream breaks by which a tool of this name answers. */
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
  /** How many streams of changes were opened. */
  readonly opened: number
  /** How many were asked for. */
  readonly asked: number
  /** Loses it. */
  now(): void
}

/**
 * The stream breaks by which changes are told.
 *
 * @param back who asks for another one waits for this. Default: nobody waits.
 */
export function cutListening(back?: Promise<void>): ListeningCut {
  const loss = new AbortController()
  let opened = 0
  let asked = 0
  return {
    get opened() {
      return opened
    },
    get asked() {
      return asked
    },
    now: () => loss.abort(new TypeError('terminated')),
    async fetch(input, init) {
      const isListening = init?.method === 'GET' || String(init?.body ?? '').includes('subscriptions/listen')
      if (isListening) asked += 1
      if (isListening && opened > 0) await back
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
