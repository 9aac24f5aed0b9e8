/** Reports the messages of a connection to the observer of the option `telemetry` of `connect`. */

import {
  type Awaitable,
  type Connection,
  type ConnectionError,
  type Exchange,
  eraOf,
  guarded,
  isRevision,
  type JsonObject,
  type NetworkInfo,
  type NotificationMessage,
  type ObservedMessage,
  PROTOCOL_VERSION_KEY,
  type RequestMessage,
  type RequestOptions,
  type Responder,
  type ResponseMessage,
  type Revision,
  type TelemetryReporter,
  withMembers,
} from '@mcpx/protocol'

/** The reporters of clients with the option `telemetry`, for their proxies. */
export const reporters = new WeakMap<object, TelemetryReporter>()

/** Reports everything that one connection sends and receives. */
export class ConnectionObserver {
  readonly #reporter: TelemetryReporter
  readonly #network: NetworkInfo | undefined
  readonly #onWarning: (warning: Error) => void
  #connection: Connection | undefined
  /** The negotiated revision. Legacy era only. */
  #revision: Revision | undefined

  constructor(reporter: TelemetryReporter, network: NetworkInfo | undefined, onWarning: (warning: Error) => void) {
    this.#reporter = reporter
    this.#network = network
    this.#onWarning = onWarning
  }

  /** Returns a responder that reports the messages of the server. */
  observeResponder(responder: Responder): Responder {
    return withMembers(responder, {
      respond: (message, exchange) => this.#receive(message, exchange, () => responder.respond(message, exchange)),
    })
  }

  /** Returns a connection that reports the requests and notifications that it sends. */
  observeConnection(connection: Connection): Connection {
    this.#connection = connection
    return withMembers(connection, {
      request: (method, params, options) => {
        // The handshake begins a session, whose end is reported even if the observer becomes active later.
        if (!this.#reporter.isActive && method !== 'initialize') return connection.request(method, params, options)
        return this.#request(connection, method, params as JsonObject | undefined, options)
      },
      notify: (method, params) =>
        this.#reporter.send(this.#describe(method, params as JsonObject | undefined, false), undefined, (sent) =>
          connection.notify(method, sent),
        ),
    })
  }

  async #request(
    connection: Connection,
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions = {},
  ): Promise<unknown> {
    const start = performance.now()
    const message = this.#describe(method, params, true)
    const result = await this.#reporter.send(message, undefined, (sent, running) => {
      const observed: RequestOptions = { ...options, onId: running.onId }
      const { onNotification } = options
      if (onNotification !== undefined) {
        observed.onNotification = guarded(async (notification: NotificationMessage) => {
          // Count the acknowledgement as the response, because the response of a subscription is sent at its end.
          if (notification.method === 'notifications/subscriptions/acknowledged') running.end({})
          await this.#receive(notification, undefined, () => void onNotification(notification))
        }, this.#onWarning)
      }
      return connection.request(method, sent, observed)
    })
    if (method === 'initialize') this.#beginSession(result, start)
    return result
  }

  #beginSession(result: unknown, start: number): void {
    const revision = (result as JsonObject | undefined)?.protocolVersion
    if (!isRevision(revision) || eraOf(revision) !== 'legacy') return
    this.#revision = revision
    const end = (error: ConnectionError | undefined) => {
      const duration = performance.now() - start
      this.#reporter.endSession({ side: 'client', revision, network: this.#network, duration, error })
    }
    void this.#connection?.closed.then(end)
  }

  #receive(
    message: RequestMessage | NotificationMessage,
    exchange: Exchange | undefined,
    handle: () => Awaitable<ResponseMessage | undefined>,
  ): Promise<ResponseMessage | undefined> {
    const id = 'id' in message ? message.id : undefined
    const described = { ...this.#describe(message.method, message.params, id !== undefined), id }
    return this.#reporter.receive(described, exchange, handle)
  }

  #describe(method: string, params: JsonObject | undefined, isRequest: boolean): ObservedMessage {
    const meta = params?._meta as JsonObject | undefined
    const stated = meta?.[PROTOCOL_VERSION_KEY]
    const revision = isRevision(stated) ? stated : this.#revision
    const sessionId = this.#connection?.sessionId
    return { side: 'client', method, params, isRequest, revision, sessionId, network: this.#network }
  }
}
