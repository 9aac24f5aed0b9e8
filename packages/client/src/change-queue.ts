/**
 * Changes that wait to be read. A change is not added if the same change is already waiting, because the reader will
 * see the newest state.
 */

import { type Change, ConnectionError } from '@mcpx/protocol'
import { createDeferred } from './async.ts'

/** The default limit of different changes that wait to be read. */
const MAX_WAITING = 10_000
/** The most characters of the URIs of these changes. */
const MAX_CHARACTERS = 4 * 1024 * 1024

export function createChangeQueue(limit: number = MAX_WAITING) {
  const waiting = new Map<string, Change>()
  /** The characters of the keys. */
  let characters = 0
  let ended: { error: Error | undefined } | undefined
  /** Resolves with the next change, and at the end. */
  let news = createDeferred<void>()

  function wakeReaders(): void {
    news.resolve()
    news = createDeferred()
  }

  return {
    /** Adds a change. Returns false if too many different changes are waiting. */
    push(change: Change): boolean {
      if (ended !== undefined) return true
      const key = change.kind === 'resource' ? `resource ${change.uri}` : change.kind
      if (!waiting.has(key)) characters += key.length
      waiting.set(key, change)
      wakeReaders()
      return waiting.size <= limit && characters <= MAX_CHARACTERS
    },
    /** Ends the queue. Waiting changes can still be read. After the last one, one reader receives the error, if it is set. */
    end(error?: Error): void {
      ended ??= { error }
      wakeReaders()
    },
    async next(): Promise<IteratorResult<Change>> {
      for (;;) {
        for (const [key, value] of waiting) {
          waiting.delete(key)
          characters -= key.length
          return { done: false, value }
        }
        if (ended !== undefined) {
          const { error } = ended
          ended = { error: undefined }
          if (error !== undefined) throw error
          return { done: true, value: undefined }
        }
        await news.promise
      }
    },
  }
}

export function overflowError(): ConnectionError {
  const hint = 'Read the changes faster, or listen to fewer resources.'
  return new ConnectionError('limit', `More than ${MAX_WAITING} changes wait to be read, or their URIs are too long`, {
    hint,
  })
}
