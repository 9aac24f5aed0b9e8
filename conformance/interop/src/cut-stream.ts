/** A `fetch` that loses the stream of a call in the middle, once. */

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
