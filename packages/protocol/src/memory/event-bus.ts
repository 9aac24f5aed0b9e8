/** A bus within one process. */

import type { EventBus } from '../ports/stores.ts'

export interface MemoryEventBusOptions {
  /** Hears of a listener that threw. Default: nobody does. */
  report?: (error: unknown) => void
}

export function createMemoryEventBus({ report }: MemoryEventBusOptions = {}): EventBus {
  const topics = new Map<string, Set<{ readonly listener: (message: string) => void }>>()
  const waiting: { readonly topic: string; readonly message: string }[] = []
  let isDelivering = false

  function deliver(topic: string, message: string): void {
    for (const { listener } of [...(topics.get(topic) ?? [])]) {
      try {
        listener(message)
      } catch (error) {
        report?.(error)
      }
    }
  }

  return {
    publish(topic, message) {
      waiting.push({ topic, message })
      // What a listener publishes comes after what is being delivered, for every listener.
      if (isDelivering) return
      isDelivering = true
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) deliver(next.topic, next.message)
      isDelivering = false
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
