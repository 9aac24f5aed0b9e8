import { createJsonSchemaValidator } from '@mcpx/json-schema'
import { createDuplex } from '@mcpx/protocol'
import {
  createChannelPair,
  createMemoryEventBus,
  createMemoryEventStore,
  createMemoryRecordStore,
  createMemorySessionStore,
  createMemoryTaskStore,
  memoryStore,
} from '@mcpx/protocol/memory'
import { describe, it } from 'vitest'
import {
  channelContract,
  describeContract,
  eventBusContract,
  eventStoreContract,
  jsonSchemaValidatorContract,
  recordStoreContract,
  requesterContract,
  sessionContract,
  sessionStoreContract,
  storeContract,
  taskStoreContract,
} from './index.ts'

const runner = { describe, it }
const cases = {
  'the channel pair in memory': channelContract(() => createChannelPair()),
  'the session store in memory': sessionStoreContract(() => createMemorySessionStore()),
  'the record store in memory': recordStoreContract(() => createMemoryRecordStore()),
  'the task store in memory': taskStoreContract(() => createMemoryTaskStore()),
  'the event store in memory': eventStoreContract(() => createMemoryEventStore()),
  'the event bus in memory': eventBusContract(() => createMemoryEventBus()),
  'the whole store in memory': storeContract(() => memoryStore()),
  'a duplex over a channel pair in memory': requesterContract((responder) => {
    const [near, far] = createChannelPair()
    createDuplex(far, { responder })
    return createDuplex(near)
  }),
  'the session of a duplex': sessionContract(() => createDuplex(createChannelPair()[0]).session),
  'the validator of @mcpx/json-schema': jsonSchemaValidatorContract(() => createJsonSchemaValidator()),
}

for (const [name, contract] of Object.entries(cases)) describeContract(name, contract, runner)
