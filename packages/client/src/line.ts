/** A connection whose era is not known yet: it can ask, and whoever learns the era takes over what comes in. */

import {
  type Awaitable,
  BATCH_REVISION,
  type Connection,
  type Connector,
  createDuplex,
  type Exchange,
  errorMessage,
  methodNotFound,
  type NotificationMessage,
  type RequestMessage,
  type Responder,
  type ResponseMessage,
  RpcError,
  resultMessage,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'

/** Takes what the server says unasked. */
export interface Listener {
  /** Answers a request. An `RpcError` is told to the server; any other throw is masked. */
  answer?(request: RequestMessage, signal: AbortSignal): Awaitable<object>
  hear(notification: NotificationMessage): Awaitable<void>
}

export interface Line {
  readonly connection: Connection
  /** The connection is gone. */
  readonly ended: boolean
  listener: Listener | undefined
}

export type Target = Connector | Responder

/** Connects to a server, or, within the process, to what answers as one. */
export async function openLine(target: Target, report: (problem: Error) => void): Promise<Line> {
  const line = { listener: undefined as Listener | undefined, ended: false }
  const responder: Responder = {
    respond: (message, exchange) => ('id' in message ? answer(message, exchange) : hear(message)),
  }

  async function answer(message: RequestMessage, exchange: Exchange): Promise<ResponseMessage> {
    try {
      if (line.listener?.answer === undefined) throw methodNotFound(message.method)
      return resultMessage(message.id, await line.listener.answer(message, exchange.signal))
    } catch (error) {
      if (error instanceof RpcError) return errorMessage(message.id, error)
      throw error
    }
  }

  async function hear(message: NotificationMessage): Promise<undefined> {
    await line.listener?.hear(message)
  }

  const options = { responder, report }
  const connection = 'respond' in target ? connectInMemory(target, options) : await target.connect(options)
  void connection.closed.then(() => {
    line.ended = true
  })
  return Object.assign(line, { connection })
}

function connectInMemory(
  server: Responder,
  options: { responder: Responder; report: (problem: Error) => void },
): Connection {
  const [here, there] = createChannelPair()
  let takesBatches = false
  createDuplex(there, { responder: server, report: options.report })
  const duplex = createDuplex(here, { ...options, takesBatches: () => takesBatches })
  return Object.assign(duplex, {
    negotiated(revision: string) {
      takesBatches = revision === BATCH_REVISION
    },
  })
}
