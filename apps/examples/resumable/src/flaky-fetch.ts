/** A `fetch` that cuts the first SSE stream after two events and records how clients resume it. */

export interface FlakyNetwork {
  readonly fetch: typeof fetch
  /** The `last-event-id` of each resumed stream. */
  readonly resumed: string[]
  cuts: number
}

export function createFlakyNetwork(): FlakyNetwork {
  const network: FlakyNetwork = {
    resumed: [],
    cuts: 0,
    async fetch(input, init) {
      const id = new Headers(init?.headers).get('last-event-id')
      if (id !== null) network.resumed.push(id)
      const response = await fetch(input, init)
      const isCall = typeof init?.body === 'string' && init.body.includes('"bake"')
      if (!isCall || response.body === null || network.cuts > 0) return response
      network.cuts += 1
      return new Response(response.body.pipeThrough(cutAfter(2)), response)
    },
  }
  return network
}

/** Forwards the given number of progress events, then fails the stream. */
function cutAfter(events: number): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk)
      seen += new TextDecoder().decode(chunk).split('notifications/progress').length - 1
      if (seen >= events) controller.error(new Error('the connection was cut'))
    },
  })
}
