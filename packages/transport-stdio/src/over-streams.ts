/** Reaches a server over any two byte streams, such as the halves of a socket. */

import { type Awaitable, BATCH_REVISION, type Connector, createDuplex, type DuplexLimits } from '@mcpx/protocol'
import { watchEnd } from './peer-end.ts'
import { createStreamChannel, type StreamLimits } from './stream-channel.ts'
import type { ByteSink, ByteSource } from './streams.ts'

export interface OverStreamsOptions extends StreamLimits {
  /** Names the server for what is remembered about it, such as its era. Default: nothing is remembered. */
  readonly peer?: string | undefined
  /** How long the server may take to show its era, in ms. Default: 5,000. */
  readonly probeTimeout?: number | undefined
  /** Bounds of what is running and waiting. */
  readonly limits?: Partial<DuplexLimits> | undefined
}

export interface StreamPair {
  readonly input: ByteSource
  readonly output: ByteSink
}

/**
 * Gives what a client connects to. Each connection opens the streams anew; they are ended with it.
 *
 * ```ts
 * const client = await connect(overStreams(() => { const socket = dial(path); return { input: socket, output: socket } }))
 * ```
 */
export function overStreams(open: () => Awaitable<StreamPair>, options: OverStreamsOptions = {}): Connector {
  const { peer, probeTimeout, limits, maxLineLength, maxUnsent, flushTimeout } = options
  return {
    peer,
    probeTimeout,
    async connect({ responder, report }) {
      const { input, output } = await open()
      const channel = watchEnd(createStreamChannel({ input, output, maxLineLength, maxUnsent, flushTimeout }))
      let isBatching = false
      const duplex = createDuplex(channel, { responder, report, limits, takesBatches: () => isBatching })
      return Object.assign(duplex, {
        closed: Promise.race([duplex.closed, channel.lost]),
        negotiated(revision: string) {
          isBatching = revision === BATCH_REVISION
        },
      })
    },
  }
}
