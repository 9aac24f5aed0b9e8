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
  const texts = ['', ...messages]
  const ids = store(storing, texts)
  return isPromise(ids) ? ids.then((known) => encodeAll(storing, texts, known)) : encodeAll(storing, texts, ids)
}

type Ids = readonly (string | undefined)[]

/** A store that fails costs the place to resume from, not the event. */
function store({ events, id, report }: Storing, texts: readonly string[]): Awaitable<Ids> {
  const failed = (problem: unknown): Ids => {
    report(problem as Error)
    return []
  }
  if (!events.appendWhole) return storeEach(events, id, texts, failed)
  const read = (ids: Ids): Ids => {
    if (Array.isArray(ids) && ids.length === texts.length) return ids
    return failed(new TypeError(`The event store gave no ids for ${texts.length} events at once (appendWhole)`))
  }
  try {
    const ids = events.appendWhole(id, texts)
    return isPromise(ids) ? ids.then(read, failed) : read(ids)
  } catch (problem) {
    return failed(problem)
  }
}

async function storeEach(
  events: EventStore,
  streamId: string,
  texts: readonly string[],
  failed: (problem: unknown) => unknown,
): Promise<Ids> {
  const ids: (string | undefined)[] = []
  for (const text of texts) {
    const id = async () => events.append(streamId, text)
    ids.push(await id().catch((problem) => void failed(problem)))
  }
  const ended = async () => events.end(streamId)
  await ended().catch(failed)
  return ids
}

function encodeAll({ first, report }: Storing, texts: readonly string[], ids: Ids): string {
  let whole = ''
  texts.forEach((data, index) => {
    const id = ids[index]
    if (index > 0 || id !== undefined) whole += encodeStored({ ...(index === 0 && first), id, data }, report)
  })
  return whole
}
