/** Keeps the events of a stream that has ended before anybody reads it, and gives its text. */

import { type Awaitable, type EventStore, isPromise } from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'

export interface Storing {
  readonly events: EventStore
  /** The name of the stream. */
  readonly id: string
  /** What the first event, which has no data, says besides its id. */
  readonly first: { readonly retry: number }
  readonly report: (problem: Error) => void
}

/** The text of an event as it was stored. A store whose id cannot be sent costs the place to resume from, not the event. */
export function encodeStored(
  event: { readonly id: string | undefined; readonly data: string; readonly retry?: number },
  report: (problem: Error) => void,
): string {
  try {
    return encodeEvent(event)
  } catch (cause) {
    const text = `The event store gave an id that cannot be sent: expected a line of text, got ${String(event.id).slice(0, 80)}`
    report(new TypeError(text, { cause }))
    return encodeEvent({ ...event, id: undefined })
  }
}

/** The first event is a place to resume from before anything was said. At once, where the store is. */
export function storeWhole(storing: Storing, messages: readonly string[]): Awaitable<string> {
  let text: Awaitable<string> = next(storing, '', '', storing.first)
  for (const data of messages) {
    text = isPromise(text) ? text.then((before) => next(storing, before, data)) : next(storing, text, data)
  }
  return isPromise(text) ? text.then((whole) => end(storing, whole)) : end(storing, text)
}

function end({ events, id, report }: Storing, whole: string): Awaitable<string> {
  const ended = attempt(() => events.end(id), report)
  return isPromise(ended) ? ended.then(() => whole) : whole
}

/** A store that fails costs the place to resume from, not the event. */
function next(
  { events, id: stream, report }: Storing,
  before: string,
  data: string,
  first?: Storing['first'],
): Awaitable<string> {
  const add = (id: string | undefined) =>
    id === undefined && data === '' ? before : before + encodeStored({ ...first, id, data }, report)
  const id = attempt(() => events.append(stream, data), report)
  return isPromise(id) ? id.then(add) : add(id)
}

function attempt<T>(step: () => Awaitable<T>, report: (problem: Error) => void): Awaitable<T | undefined> {
  try {
    const done = step()
    return isPromise(done) ? done.then(undefined, (problem) => report(problem as Error) as undefined) : done
  } catch (problem) {
    report(problem as Error)
    return undefined
  }
}
