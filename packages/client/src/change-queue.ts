/** Changes that wait to be read. The same change twice is one change: what counts is that it is read after it happened. */

import type { Change } from '@mcpx/protocol'

export interface ChangeQueue {
  /** False when too many different changes wait. */
  push(change: Change): boolean
  /** Nothing more will come; what waits can still be read, and then the error is thrown if there is one. */
  end(error?: Error): void
  next(): Promise<IteratorResult<Change>>
}

/** @param limit how many different changes may wait. */
export function createChangeQueue(limit: number): ChangeQueue {
  const waiting = new Map<string, Change>()
  let readers: { resolve(result: IteratorResult<Change>): void; reject(error: Error): void }[] = []
  let ended: { error: Error | undefined } | undefined

  function take(): Change | undefined {
    for (const [key, change] of waiting) {
      waiting.delete(key)
      return change
    }
    return undefined
  }

  return {
    push(change) {
      if (ended !== undefined) return true
      const reader = readers.shift()
      if (reader !== undefined) reader.resolve({ done: false, value: change })
      else waiting.set(change.kind === 'resource' ? `resource ${change.uri}` : change.kind, change)
      return waiting.size <= limit
    },
    end(error) {
      if (ended !== undefined) return
      ended = { error }
      for (const { resolve, reject } of readers) error === undefined ? resolve(DONE) : reject(error)
      readers = []
    },
    async next() {
      const change = take()
      if (change !== undefined) return { done: false, value: change }
      if (ended === undefined) return new Promise((resolve, reject) => void readers.push({ resolve, reject }))
      const { error } = ended
      ended = { error: undefined }
      if (error !== undefined) throw error
      return DONE
    },
  }
}

const DONE: IteratorResult<Change> = { done: true, value: undefined }
