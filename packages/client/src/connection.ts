/** Opens connections to servers whose era is not known yet, over a transport or within the process. */

import {
  type Awaitable,
  ConnectionError,
  type Connector,
  cancelledError,
  type Exchange,
  errorMessage,
  type NotificationMessage,
  type RequestMessage,
  type Responder,
  type ResponseMessage,
  RpcError,
  resultMessage,
} from '@mcpx/protocol'
import { memoryConnector } from '@mcpx/protocol/memory'
import type { ClientState } from './state.ts'
import { ConnectionObserver } from './telemetry.ts'

/** A server to connect to: the connector of a transport, or a server of this process. */
export type Target = Connector | Responder

/** Handles the messages that a server sends by itself. */
export interface MessageListener {
  /**
   * Answers a request of the server. An `RpcError` is sent to the server, other errors are masked. Undefined in the
   * modern era, where servers send no requests.
   */
  answer?(request: RequestMessage, exchange: Exchange): Awaitable<object>
  handle(notification: NotificationMessage): void
}

/** A connection whose era is not known yet. The module of the era sets the listener. */
export type UndeterminedConnection = Awaited<ReturnType<typeof openConnection>>

/** Opens a connection. The signal ends waiting for it. */
export async function openConnection(
  target: Target,
  { onWarning, observer, reporter }: Pick<ClientState, 'onWarning' | 'observer' | 'reporter'>,
  signal?: AbortSignal,
) {
  if (signal?.aborted === true) throw cancelledError('connect', signal)
  const opened = {
    listener: undefined as MessageListener | undefined,
    /** The first invalid message that the server sent, as the transport reported it. */
    invalidMessage: undefined as Error | undefined,
    /** Whether the connection has ended. */
    ended: false,
  }
  const responder: Responder = {
    // Only legacy servers send requests.
    get silent() {
      return opened.listener?.answer === undefined
    },
    async respond(message, exchange) {
      if ('id' in message) return answer(opened.listener, message, exchange)
      opened.listener?.handle(message)
      return undefined
    },
  }
  const connector = 'respond' in target ? memoryConnector(target) : target
  const reported = reporter && new ConnectionObserver(reporter, connector.network, onWarning)
  const opening = await connector.connect({
    responder: reported === undefined ? responder : reported.observeResponder(responder),
    signal,
    onMessage: observer,
    onWarning(warning) {
      if (warning instanceof ConnectionError && warning.reason === 'invalid-message') opened.invalidMessage ??= warning
      onWarning(warning)
    },
  })
  const connection = reported === undefined ? opening : reported.observeConnection(opening)
  void connection.closed.then(() => {
    opened.ended = true
  })
  return Object.assign(opened, { connection })
}

async function answer(
  listener: MessageListener | undefined,
  message: RequestMessage,
  exchange: Exchange,
): Promise<ResponseMessage> {
  try {
    if (listener?.answer === undefined) throw unexpectedRequest(message.method)
    return resultMessage(message.id, await listener.answer(message, exchange))
  } catch (error) {
    if (error instanceof RpcError) return errorMessage(message.id, error)
    throw error
  }
}

/** Creates the warning for a request of a modern server, which receives no response. */
function unexpectedRequest(method: string): ConnectionError {
  const message = `The server sent the request ${method.slice(0, 100)}, which servers of the modern era must not do`
  return new ConnectionError('invalid-message', message)
}
