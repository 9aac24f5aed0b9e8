/** The stdio transport over streams of this process. */

import { PassThrough } from 'node:stream'
import { createDuplex } from '@mcpx/protocol'
import { createStreamChannel, overStreams, serveStdio } from '@mcpx/transport-stdio'
import type { TransportFactory } from './transport.ts'

export const overLines: TransportFactory = (server, { auth, onWarning }) => {
  let cutNewest = () => {}
  return {
    connector: overStreams(() => {
      const [toServer, toClient] = [new PassThrough(), new PassThrough()]
      const serverStreams = { input: toServer, output: toClient }
      cutNewest = () => void [toServer, toClient].map((stream) => stream.destroy())
      // `serveStdio` has no authentication. A server on a socket may pass `auth` to `createDuplex`.
      if (auth === undefined) void serveStdio(server, { ...serverStreams, drainTimeout: 0, onWarning })
      else createDuplex(createStreamChannel(serverStreams), { responder: server, auth, onWarning })
      return { input: toClient, output: toServer }
    }),
    cut: async () => cutNewest(),
  }
}
