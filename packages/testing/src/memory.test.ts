import { createJsonSchemaValidator } from '@mcpx/json-schema'
import { createDuplex } from '@mcpx/protocol'
import {
  createChannelPair,
  createMemoryEventBus,
  createMemoryEventStore,
  createMemorySessionStore,
} from '@mcpx/protocol/memory'
import {
  channelContract,
  eventBusContract,
  eventStoreContract,
  jsonSchemaValidatorContract,
  requesterContract,
  sessionContract,
  sessionStoreContract,
} from './index.ts'

channelContract('a pair in memory', { create: () => createChannelPair() })
sessionStoreContract('memory', { create: () => createMemorySessionStore() })
eventStoreContract('memory', { create: () => createMemoryEventStore() })
eventBusContract('memory', { create: () => createMemoryEventBus() })
requesterContract('a duplex over a pair in memory', {
  connect(responder) {
    const [near, far] = createChannelPair()
    createDuplex(far, { responder })
    return createDuplex(near)
  },
})
sessionContract('the session of a pipe', { create: () => createDuplex(createChannelPair()[0]).session })
jsonSchemaValidatorContract('the default validator', { create: () => createJsonSchemaValidator() })
