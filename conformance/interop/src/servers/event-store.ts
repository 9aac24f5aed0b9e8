/** An event store for the official SDKs, which contain no event store. */

interface StoredEvent {
  readonly id: string
  readonly stream: string
  readonly message: object
}

export function createEventStore() {
  const events: StoredEvent[] = []
  return {
    async storeEvent(stream: string, message: object): Promise<string> {
      const id = `${events.length}`
      events.push({ id, stream, message })
      return id
    },
    async getStreamIdForEventId(id: string): Promise<string | undefined> {
      return events[Number(id)]?.stream
    },
    async replayEventsAfter(
      id: string,
      { send }: { send: (id: string, message: object) => Promise<void> },
    ): Promise<string> {
      const { stream = '' } = events[Number(id)] ?? {}
      const rest = events.slice(Number(id) + 1).filter((event) => event.stream === stream)
      // The empty event only gives the client the start of the stream.
      for (const event of rest) if (Object.keys(event.message).length > 0) await send(event.id, event.message)
      return stream
    },
  }
}
