/** A connection whose era is not known yet: it can ask, and whoever learns the era takes over what comes in. */

import {
  type Awaitable,
  type Connection,
  ConnectionError,
  type Connector,
  type Exchange,
  errorMessage,
  type NotificationMessage,
  type RequestMessage,
  type Responder,
  type ResponseMessage,
  RpcError,
  resultMessage,
} from '@mcpx/protocol'

/** Takes what the server says unasked. */
export interface Listener {
  /** Answers a request. An `RpcError` is told to the server; any other throw is masked. */
  answer?(request: RequestMessage, exchange: Exchange): Awaitable<object>
  hear(notification: NotificationMessage): Awaitable<void>
}

export interface Line {
  readonly connection: Connection
  /** The connection is gone. */
  readonly ended: boolean
  listener: Listener | undefined
}

export type Target = Connector | Responder

/** Connects to a server, or, within the process, to what answers as one. The connection ends when the signal fires. */
export async function openLine(target: Target, report: (problem: Error) => void, signal?: AbortSignal): Promise<Line> {
  signal?.throwIfAborted()
  const line = { listener: undefined as Listener | undefined, ended: false }
  const responder: Responder = {
    // Only servers of the legacy era ask, and it is not known to be one before its listener is there.
    get silent() {
      return line.listener?.answer === undefined
    },
    respond: (message, exchange) => ('id' in message ? answer(message, exchange) : hear(message)),
  }

  async function answer(message: RequestMessage, exchange: Exchange): Promise<ResponseMessage> {
    try {
      if (line.listener?.answer === undefined) throw unwanted(message.method)
      return resultMessage(message.id, await line.listener.answer(message, exchange))
    } catch (error) {
      if (error instanceof RpcError) return errorMessage(message.id, error)
      throw error
    }
  }

  async function hear(message: NotificationMessage): Promise<undefined> {
    await line.listener?.hear(message)
  }

  const options = { responder, onWarning: report, signal }
  const connection = await ('respond' in target ? await inMemory(target) : target).connect(options)
  const close = () => void connection.close()
  signal?.addEventListener('abort', close)
  if (signal?.aborted === true) close()
  void connection.closed.then(() => {
    line.ended = true
    signal?.removeEventListener('abort', close)
  })
  return Object.assign(line, { connection })
}

/** What fails leaves no connection behind. */
export async function guarded<T>(line: Line, run: (line: Line) => Promise<T>): Promise<T> {
  try {
    return await run(line)
  } catch (error) {
    await line.connection.close()
    throw error
  }
}

/** Nobody but this side hears of it. */
function unwanted(method: string): ConnectionError {
  return new ConnectionError('invalid-message', `The server sent a request, which it must not: ${method.slice(0, 100)}`)
}

/** What only servers within the process need is loaded when there is one. */
async function inMemory(server: Responder): Promise<Connector> {
  const { createMemoryConnector } = await import('./memory-connector.ts')
  return createMemoryConnector(server)
}
