/** A bus within one process. */

import type { EventBus } from '../ports/stores.ts'

export interface MemoryEventBusOptions {
  /** Hears of a listener that threw. Default: nobody does. */
  report?: (error: unknown) => void
}

export function createMemoryEventBus({ report }: MemoryEventBusOptions = {}): EventBus {
  const topics = new Map<string, Set<{ readonly listener: (message: string) => void }>>()
  return {
    publish(topic, message) {
      for (const { listener } of [...(topics.get(topic) ?? [])]) {
        try {
          listener(message)
        } catch (error) {
          report?.(error)
        }
      }
    },
    subscribe(topic, listener) {
      const listeners = topics.get(topic) ?? new Set()
      const entry = { listener }
      topics.set(topic, listeners.add(entry))
      return () => {
        listeners.delete(entry)
        if (listeners.size === 0 && topics.get(topic) === listeners) topics.delete(topic)
      }
    },
  }
}
