/** Observes the messages of a connection at the interface of its connector, over any transport. */

import {
  type Connection,
  ConnectionError,
  type Connector,
  isObject,
  type JsonObject,
  kindOf,
  type NotificationMessage,
  quoted,
  type RequestOptions,
  type Responder,
  RpcError,
} from '@mcpx/protocol'
import { memoryConnector } from '@mcpx/protocol/memory'

/** The error of a failed request: a JSON-RPC error, or the reason why there was no response. */
export interface Failure {
  /** The JSON-RPC error code. Undefined if there was no response. */
  readonly code?: number | undefined
  /** The data of the JSON-RPC error. */
  readonly data?: unknown
  /** The reason why there was no response. */
  readonly reason?: ConnectionError['reason'] | undefined
  /** The HTTP status of a refused request. */
  readonly status?: number | undefined
  /** Whether the same request may succeed if it is repeated. */
  readonly retryable?: boolean | undefined
  /** One sentence for humans. */
  readonly message: string
}

/**
 * One message of a recorded dialogue. `from` names the sender. `call` is the number of a request of the client, of its
 * response, and of the messages of the server that arrived on its stream. `question` is the number of a request of the
 * server and of its response.
 */
export type Step =
  | { readonly from: 'client'; readonly call: number; readonly method: string; readonly params?: JsonObject }
  | { readonly from: 'client'; readonly method: string; readonly params?: JsonObject }
  | { readonly from: 'server'; readonly call: number; readonly result: unknown }
  | { readonly from: 'server'; readonly call: number; readonly error: Failure }
  | { readonly from: 'server'; readonly call?: number; readonly method: string; readonly params?: JsonObject }
  | (QuestionStep & { readonly from: 'server'; readonly method: string; readonly params?: JsonObject })
  | (QuestionStep & { readonly from: 'client'; readonly result?: unknown; readonly error?: Failure })

interface QuestionStep {
  readonly call?: number
  readonly question: number
}

/** Describes an error of a request, so that `errorOf` can create it again. */
export function failureOf(error: unknown): Failure {
  if (error instanceof RpcError) return pickDefined({ code: error.code, message: error.message, data: error.data })
  if (!(error instanceof ConnectionError)) return { message: String(error) }
  const { reason, status, retryable, message } = error
  return pickDefined({ reason, status, retryable: retryable || undefined, message })
}

/** Creates the error that `failureOf` has described. */
export function errorOf({ code, data, reason = 'closed', status, retryable, message }: Failure): Error {
  if (code !== undefined) return new RpcError(code, message, data === undefined ? {} : { data })
  return new ConnectionError(reason, message, pickDefined({ status, retryable }))
}

/** Returns a copy without the members that are undefined. */
export function pickDefined<Value extends object>(
  value: Value,
): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never
}

/**
 * Returns a connector whose connections pass each message to `onStep`, as transcripts contain it: a notification of the
 * server before the client handles it. `onClose` is called when a connection has
 * ended; if it throws, closing the client rejects.
 *
 * ```ts
 * const steps: Step[] = []
 * await using client = await connect(observeConnector(http(url), (step) => void steps.push(step)))
 * ```
 *
 * @param target a connector, or a server in the same process
 */
export function observeConnector(
  target: Responder | Connector,
  onStep: (step: Step) => void,
  onClose: () => void = () => {},
): Connector {
  const connector = toConnector('observeConnector', target)
  let calls = 0
  let questions = 0
  /** The numbers of running calls, by the options of their requests. Messages of the server refer to a call by its options. */
  const running = new WeakMap<RequestOptions, number>()
  const callOf = (options: RequestOptions | undefined) => (options === undefined ? undefined : running.get(options))

  function observeResponder(responder: Responder): Responder {
    return {
      get silent() {
        return responder.silent
      },
      async respond(message, exchange) {
        const { method, params } = message
        const call = callOf(exchange.during)
        if (!('id' in message)) {
          onStep(pickDefined({ from: 'server', call, method, params }))
          return responder.respond(message, exchange)
        }
        questions += 1
        const question = questions
        onStep(pickDefined({ from: 'server', call, question, method, params }))
        const response = await responder.respond(message, exchange)
        if (response === undefined) return undefined
        const outcome = 'error' in response ? { error: response.error } : { result: response.result }
        onStep(pickDefined({ from: 'client', call, question, ...outcome }))
        return response
      },
    }
  }

  function observeConnection(connection: Connection): Connection {
    const ended = connection.closed.then(onClose)
    return {
      closed: connection.closed,
      hasSeparateStreams: connection.hasSeparateStreams,
      negotiated: (revision, onMissed) => connection.negotiated?.(revision, onMissed),
      async close(reason) {
        await Promise.all([connection.close(reason), ended])
      },
      notify(method, params) {
        onStep(pickDefined({ from: 'client', method, params: params as JsonObject | undefined }))
        return connection.notify(method, params)
      },
      async request(method, params, options = {}) {
        calls += 1
        const call = calls
        onStep(pickDefined({ from: 'client', call, method, params: params as JsonObject | undefined }))
        const onNotification = (notification: NotificationMessage) => {
          onStep(pickDefined({ from: 'server', call, method: notification.method, params: notification.params }))
          options.onNotification?.(notification)
        }
        const observed = options.onNotification === undefined ? { ...options } : { ...options, onNotification }
        running.set(observed, call)
        try {
          const result = await connection.request(method, params, observed)
          onStep({ from: 'server', call, result })
          return result
        } catch (error) {
          onStep({ from: 'server', call, error: failureOf(error) })
          throw error
        }
      },
    }
  }

  return wrapConnector(connector, async (options) =>
    observeConnection(await connector.connect({ ...options, responder: observeResponder(options.responder) })),
  )
}

/**
 * Returns the connector of a server in the same process, or the connector itself.
 *
 * @param place the beginning of the error for another value, such as the name of a function
 */
export function toConnector(place: string, target: Responder | Connector): Connector {
  if (isObject(target)) {
    if ('connect' in target && typeof target.connect === 'function') return target as unknown as Connector
    if ('respond' in target && typeof target.respond === 'function')
      return memoryConnector(target as unknown as Responder)
  }
  const remedy =
    typeof target === 'string' ? `http(${quoted(target)}) or spawn(command, args)` : 'http(url) or createServer(info)'
  throw new TypeError(`${place}: expected a server or a connector, got ${kindOf(target)}; pass ${remedy}`)
}

/** Returns a connector with the members of another one, which opens its connections with `connect`. */
export function wrapConnector(connector: Omit<Connector, 'connect'>, connect: Connector['connect']): Connector {
  const { peer, probeTimeout, silence, network } = connector
  return { peer, probeTimeout, silence, network, connect }
}

/**
 * Returns a connector without `peer`. Without it, the client does not remember the era of the server, so the recorded
 * requests do not depend on earlier connections.
 */
export function withoutMemory(connector: Connector): Connector {
  return { ...wrapConnector(connector, (options) => connector.connect(options)), peer: undefined }
}
