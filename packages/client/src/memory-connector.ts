/** Reaches a server within the process, over a pair of channels. */

import { BATCH_REVISION, type Connector, createDuplex, type Responder } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'

export function createMemoryConnector(server: Responder): Connector {
  return {
    connect({ responder, onWarning: report }) {
      const [here, there] = createChannelPair()
      let takesBatches = false
      createDuplex(there, { responder: server, onWarning: report })
      const duplex = createDuplex(here, { responder, onWarning: report, takesBatches: () => takesBatches })
      return Object.assign(duplex, {
        negotiated(revision: string) {
          takesBatches = revision === BATCH_REVISION
        },
      })
    },
  }
}
