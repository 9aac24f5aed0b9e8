/**
 * Changes that wait to be read. A change is not added if the same change is already waiting, because the reader will
 * see the newest state.
 */

import { type Change, ConnectionError } from '@mcpx/protocol'

export interface ChangeQueue {
  /** Adds a change. Returns false if too many different changes are waiting. */
  push(change: Change): boolean
  /** Ends the queue. Waiting changes can still be read. After the last one, reading throws the error, if it is set. */
  end(error?: Error): void
  next(): Promise<IteratorResult<Change>>
}

/** The default limit of different changes that wait to be read. */
const MAX_WAITING = 10_000
/** The most characters of the URIs of these changes. */
const MAX_CHARACTERS = 4 * 1024 * 1024

export function createChangeQueue(limit: number = MAX_WAITING): ChangeQueue {
  const waiting = new Map<string, Change>()
  /** The characters of the keys. */
  let characters = 0
  let readers: { resolve(result: IteratorResult<Change>): void; reject(error: Error): void }[] = []
  let ended: { error: Error | undefined } | undefined

  function add(key: string, change: Change): void {
    if (!waiting.has(key)) characters += key.length
    waiting.set(key, change)
  }

  return {
    push(change) {
      if (ended !== undefined) return true
      const reader = readers.shift()
      if (reader !== undefined) reader.resolve({ done: false, value: change })
      else add(change.kind === 'resource' ? `resource ${change.uri}` : change.kind, change)
      return waiting.size <= limit && characters <= MAX_CHARACTERS
    },
    end(error) {
      if (ended !== undefined) return
      // If readers wait, the first of them receives the error.
      const [first, ...others] = readers
      ended = { error: first === undefined ? error : undefined }
      if (error === undefined) first?.resolve(DONE)
      else first?.reject(error)
      for (const { resolve } of others) resolve(DONE)
      readers = []
    },
    async next() {
      for (const [key, value] of waiting) {
        waiting.delete(key)
        characters -= key.length
        return { done: false, value }
      }
      if (ended === undefined) return new Promise((resolve, reject) => void readers.push({ resolve, reject }))
      const { error } = ended
      ended = { error: undefined }
      if (error !== undefined) throw error
      return DONE
    },
  }
}

const DONE: IteratorResult<Change> = { done: true, value: undefined }

export function overflowError(): ConnectionError {
  const hint = 'Read the changes faster, or listen to fewer resources.'
  return new ConnectionError('limit', `More than ${MAX_WAITING} changes wait to be read, or their URIs are too long`, {
    hint,
  })
}
