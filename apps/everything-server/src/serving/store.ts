/** The state that several processes of this server would share, with other limits than the defaults. */
import {
  createMemoryEventBus,
  createMemoryEventStore,
  createMemorySessionStore,
  createMemoryTaskStore,
} from '@mcpx/protocol/memory'
import { memoryStore, type Store } from '@mcpx/server'

export function createStore(): Store {
  return {
    ...memoryStore(),
    sessions: createMemorySessionStore({
      maxSessions: 1_000,
      maxTotalBytes: 8 * 1024 * 1024,
      onEvict: (id) => console.error(`session ${id} was evicted`),
    }),
    events: createMemoryEventStore({
      maxStreams: 1_000,
      maxLive: 1_000,
      maxEvents: 500,
      maxCharacters: 1024 * 1024,
      maxTotalCharacters: 16 * 1024 * 1024,
      ttl: 600_000,
    }),
    tasks: createMemoryTaskStore({ maxTasks: 5_000, maxTotalCharacters: 16 * 1024 * 1024, perCaller: 0.5 }),
    bus: createMemoryEventBus({
      onWarning: (error) => console.error('an event of another process was lost:', error),
    }),
  }
}
