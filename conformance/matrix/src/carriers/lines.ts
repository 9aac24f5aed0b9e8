/** Lines, as on a pipe between two processes: the same code on both ends, without the processes. */

import { PassThrough } from 'node:stream'
import { createDuplex } from '@mcpx/protocol'
import { createStreamChannel, overStreams, serveStdio } from '@mcpx/transport-stdio'
import type { Carry } from './carrier.ts'

export const overLines: Carry = (server, { auth, report }) => {
  let newest = () => {}
  return {
    connector: overStreams(() => {
      const [there, back] = [new PassThrough(), new PassThrough()]
      const ends = { input: there, output: back }
      newest = () => void [there, back].map((stream) => stream.destroy())
      // Nobody is known at the end of a pipe; who serves a socket may know them.
      if (auth === undefined) void serveStdio(server, { ...ends, drainTimeout: 0, onWarning: report })
      else createDuplex(createStreamChannel(ends), { responder: server, auth, onWarning: report })
      return { input: back, output: there }
    }),
    cut: async () => newest(),
  }
}
