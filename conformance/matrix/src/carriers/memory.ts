/** A pair of channels, with nothing between client and server, or with the text that another process would get. */

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
import { judged } from '../wire-judge.ts'
import type { CarrierOptions, Carry, Way } from './carrier.ts'

/** Messages pass as they are. */
export const overObjects: Carry = (server, options) => between(server, options, () => createChannelPair())

/** Everything is written and read again on its way, and judged by the official schema. */
export const overText: Carry = (server, options) => {
  const { revision } = options
  return between(server, options, (report) => {
    const [here, there] = createChannelPair().map(asText) as [Channel, Channel]
    return [revision === undefined ? here : judged(here, revision, report), there]
  })
}

type Open = (report: (problem: Error) => void) => readonly [Channel, Channel]

function between(server: Responder, { auth, report }: CarrierOptions, open: Open): Way {
  let newest: Duplex | undefined
  return {
    connector: {
      connect({ responder, onWarning: reportHere }) {
        const [here, there] = open(reportHere)
        newest = createDuplex(there, { responder: server, auth, onWarning: report })
        return createDuplex(here, { responder, onWarning: reportHere })
      },
    },
    cut: async () => newest?.close(),
  }
}

function asText(channel: Channel): Channel {
  return {
    send: (message) => channel.send(reread(message) as Message),
    receive: (receiver) => channel.receive(receiver),
    close: () => channel.close(),
  }
}

function reread(message: Message | Message[]): Decoded {
  return decode(Array.isArray(message) ? `[${message.map((each) => encode(each)).join()}]` : encode(message))
}
