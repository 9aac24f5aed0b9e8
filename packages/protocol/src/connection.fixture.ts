/** Peers for the tests of a duplex connection. */

import { decode } from './codec.ts'
import { createDuplex, type DuplexOptions } from './connection.ts'
import type { Responder } from './exchange.ts'
import { createChannelPair } from './memory.ts'
import type { Message } from './messages.ts'
import type { Channel } from './transport.ts'

export const turn = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms))

/** A duplex connection whose peer is a raw channel, for messages that a duplex would not send. */
export function bare(options: DuplexOptions = {}) {
  const [near, far] = createChannelPair()
  const problems: Error[] = []
  const received: (Message | Message[])[] = []
  const duplex = createDuplex(near, { onWarning: (problem) => void problems.push(problem), ...options })
  const ended = far.receive((item) => void received.push(item as Message))
  return { duplex, far, problems, received, ended }
}

/** Two connected duplex connections. */
export function pair(responder: Responder, options: DuplexOptions = {}) {
  const [near, far] = createChannelPair()
  const problems: Error[] = []
  const server = createDuplex(far, { responder, onWarning: (problem) => void problems.push(problem), ...options })
  const client = createDuplex(near, { onWarning: (problem) => void problems.push(problem) })
  return { client, server, problems }
}

export const ask = (id: unknown, method: string, params?: object) => ({ jsonrpc: '2.0', id, method, params }) as Message
export const note = (method: string, params?: object) => ({ jsonrpc: '2.0', method, params }) as Message
export const text = (channel: Channel, line: string) => channel.send(decode(line) as Message)
