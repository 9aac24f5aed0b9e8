/** Channels in memory, which pass messages as objects or as JSON text. */

import {
  type Channel,
  createDuplex,
  type Decoded,
  type Duplex,
  decode,
  encode,
  type Message,
  type Responder,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { validateChannel } from '../message-validator.ts'
import type { MatrixTransport, TransportFactory, TransportOptions } from './transport.ts'

/** Passes messages as objects. */
export const overObjects: TransportFactory = (server, options) =>
  createMemoryTransport(server, options, () => createChannelPair())

/** Encodes and decodes each message, and validates it with the official schema. */
export const overText: TransportFactory = (server, options) => {
  const { revision } = options
  return createMemoryTransport(server, options, (onWarning) => {
    const [clientEnd, serverEnd] = createChannelPair().map(asText) as [Channel, Channel]
    return [revision === undefined ? clientEnd : validateChannel(clientEnd, revision, onWarning), serverEnd]
  })
}

type OpenChannels = (onWarning: (problem: Error) => void) => readonly [Channel, Channel]

function createMemoryTransport(
  server: Responder,
  { auth, onWarning }: TransportOptions,
  open: OpenChannels,
): MatrixTransport {
  let newestConnection: Duplex | undefined
  return {
    connector: {
      connect({ responder, onWarning: onClientWarning, onMessage }) {
        const [clientEnd, serverEnd] = open(onClientWarning)
        newestConnection = createDuplex(serverEnd, { responder: server, auth, onWarning })
        return createDuplex(clientEnd, { responder, onWarning: onClientWarning, onMessage })
      },
    },
    cut: async () => newestConnection?.close(),
  }
}

function asText(channel: Channel): Channel {
  return {
    send: (message) => channel.send(roundTrip(message) as Message),
    receive: (receiver) => channel.receive(receiver),
    close: () => channel.close(),
  }
}

function roundTrip(message: Message | Message[]): Decoded {
  return decode(Array.isArray(message) ? `[${message.map((each) => encode(each)).join()}]` : encode(message))
}
