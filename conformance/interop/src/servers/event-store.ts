/** Keeps what the official servers sent, so that a lost stream can be resumed; they come without a store for it. */

interface Kept {
  readonly id: string
  readonly stream: string
  readonly message: object
}

export function createEventStore() {
  const kept: Kept[] = []
  return {
    async storeEvent(stream: string, message: object): Promise<string> {
      const id = `${kept.length}`
      kept.push({ id, stream, message })
      return id
    },
    async getStreamIdForEventId(id: string): Promise<string | undefined> {
      return kept[Number(id)]?.stream
    },
    async replayEventsAfter(
      id: string,
      { send }: { send: (id: string, message: object) => Promise<void> },
    ): Promise<string> {
      const { stream = '' } = kept[Number(id)] ?? {}
      const rest = kept.slice(Number(id) + 1).filter((event) => event.stream === stream)
      // An event without a message only tells the client where the stream begins.
      for (const event of rest) if (Object.keys(event.message).length > 0) await send(event.id, event.message)
      return stream
    },
  }
}
