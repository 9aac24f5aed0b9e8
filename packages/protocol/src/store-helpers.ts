/** Functions for authors of stores: they check options, and follow a stream of stored events. */

import { type Awaitable, LONGEST_TIMER } from './async.ts'
import { kindOf } from './json.ts'
import { refuseUnknownOption } from './options.ts'
import type { EventReplay, StoredEvent } from './stores.ts'

/**
 * Throws a `TypeError` or a `RangeError` if an option of a store is unknown or has an invalid value. `prefix` must be a
 * string, `onWarning` a function, and each option in `numbers` a whole number from 1 to `LONGEST_TIMER`.
 */
export function checkStoreOptions(place: string, options: object, numbers: readonly string[]): void {
  refuseUnknownOption(place, options, ['prefix', ...numbers, 'onWarning'])
  const { prefix = '', onWarning = () => {}, ...others }: Readonly<Record<string, unknown>> = { ...options }
  if (typeof prefix !== 'string') throw new TypeError(`prefix: expected a string, got ${kindOf(prefix)}`)
  if (typeof onWarning !== 'function') throw new TypeError(`onWarning: expected a function, got ${kindOf(onWarning)}`)
  for (const [name, value] of Object.entries(others)) {
    if (value === undefined || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= LONGEST_TIMER))
      continue
    throw new RangeError(`${name}: expected a whole number from 1 to ${LONGEST_TIMER}, got ${String(value)}`)
  }
}

/** The parts of an event store that `followByReplay` uses. */
export interface FollowSource {
  /** Returns the events after an event, or undefined if the event is unknown or was dropped. */
  replay(lastEventId: string): Awaitable<EventReplay | undefined>
  /** Calls the listener when the stream may have changed, until the returned function is called. */
  subscribe(listener: () => void): Awaitable<() => Awaitable<void>>
}

/**
 * Implements `EventStore.follow`: yields the stored events after an event, waits until the stream changes, and reads
 * the new events.
 *
 * @param signals signals that end the generator, for example the signal of the caller and the signal of the store
 * @throws Error if the event is unknown, or was dropped while the reader was behind
 */
export async function* followByReplay(
  lastEventId: string,
  signals: readonly AbortSignal[],
  source: FollowSource,
): AsyncGenerator<StoredEvent> {
  const isStopped = () => signals.some(({ aborted }) => aborted)
  if (isStopped()) return
  let last = lastEventId
  let hasChanged = false
  let resume = () => {}
  const wake = () => {
    hasChanged = true
    resume()
  }
  const unsubscribe = await source.subscribe(wake)
  for (const signal of signals) signal.addEventListener('abort', wake)
  try {
    while (!isStopped()) {
      hasChanged = false
      const missed = await source.replay(last)
      if (missed === undefined) throw new Error('follow: expected a stored event, got an unknown or dropped one')
      for (const event of missed.events) {
        yield event
        last = event.id
      }
      if (missed.ended) return
      // If the stream changed during the replay, replay again without waiting.
      if (hasChanged) continue
      await new Promise<void>((resolve) => {
        resume = resolve
      })
    }
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', wake)
    await unsubscribe()
  }
}
