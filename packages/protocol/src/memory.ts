/** Everything within one process: a channel, and the stores that are used when no other is given. */

export { type ChannelPairOptions, createChannelPair } from './memory/channel.ts'
export { createMemoryEventBus, type MemoryEventBusOptions } from './memory/event-bus.ts'
export { createMemoryEventStore, type MemoryEventStoreOptions } from './memory/event-store.ts'
export { createMemorySessionStore, type MemorySessionStoreOptions } from './memory/session-store.ts'
