/** Reports the messages of a server to the observer of its option `telemetry`. */

import {
  type Awaitable,
  type Context,
  claimsModern,
  type Exchange,
  type Handler,
  isRevision,
  type JsonObject,
  type NetworkInfo,
  type NotificationMessage,
  type ObservedMessage,
  PROTOCOL_VERSION_KEY,
  type RequestMessage,
  type ResponseMessage,
  type RunningObservation,
  type Session,
  type TelemetryReporter,
  withMembers,
} from '@mcpx/protocol'
import { createDynamicHandler, HANDLER_MEMBERS } from './dispatch.ts'
import { InputRequired } from './errors.ts'

/** The session id for connections without a session id, such as stdio. */
const UNNAMED_SESSION = 'connection'

type Facts = Pick<ObservedMessage, 'side' | 'revision' | 'sessionId' | 'network'>

type SendNotification = (message: NotificationMessage) => Awaitable<void>

/** Handles a message, and reports it and everything that is sent while it is handled. */
export function observeExchange(
  reporter: TelemetryReporter,
  message: RequestMessage | NotificationMessage,
  exchange: Exchange,
  handle: (exchange: Exchange) => Promise<ResponseMessage | undefined>,
): Promise<ResponseMessage | undefined> {
  const { method, params } = message
  const facts = factsOf(message, exchange)
  const id = 'id' in message ? message.id : undefined
  const observed: ObservedMessage = { ...facts, method, params, isRequest: id !== undefined, id }
  return reporter.receive(observed, exchange, (running) => handle(observeSending(exchange, reporter, facts, running)))
}

/** Reports the notifications that a server sends outside of a request. */
export function observeNotifications(
  reporter: TelemetryReporter,
  session: Session,
  send: SendNotification,
): SendNotification {
  return (message) => {
    const facts = factsOfSession(session, undefined)
    const { method, params } = message
    return reporter.send({ ...facts, method, params, isRequest: false }, undefined, (sent) =>
      send(sent === params ? message : { ...message, params: sent }),
    )
  }
}

/** Returns a mounted handler that reports the requests that are passed to it. */
export function observeHandler(reporter: TelemetryReporter, prefix: string, handler: Handler): Handler {
  const observed = Object.entries(HANDLER_MEMBERS).map(([method, member]) => {
    const run = (params: JsonObject, ctx: Context) =>
      reporter.work({ kind: 'delegate', method, params, prefix }, async (running) => {
        try {
          return await handler[member]?.(params as never, ctx)
        } catch (error) {
          // `InputRequired` means that the handler asks the client. This is not a failure.
          if (error instanceof InputRequired) running.end({})
          throw error
        }
      })
    return [member, run] as const
  })
  const handlerOfMembers = createDynamicHandler(Object.fromEntries(observed), (member) => handler[member] !== undefined)
  return withMembers(handler, handlerOfMembers)
}

/** Reports the end of a session, if it was initialized. */
export function reportSessionEnd(
  reporter: TelemetryReporter,
  { state }: Session,
  network: NetworkInfo | undefined,
): void {
  const { openedAt, revision } = state
  if (openedAt === undefined) return
  reporter.endSession({ side: 'server', revision, network, duration: Date.now() - openedAt, error: undefined })
}

function factsOf(message: RequestMessage | NotificationMessage, { envelope, network, session }: Exchange): Facts {
  const isLegacy = session !== undefined && !claimsModern(message)
  if (isLegacy) return factsOfSession(session, network)
  const meta = message.params?._meta as JsonObject | undefined
  const revision = envelope?.protocolVersion ?? meta?.[PROTOCOL_VERSION_KEY]
  return { side: 'server', revision: isRevision(revision) ? revision : undefined, sessionId: undefined, network }
}

function factsOfSession({ id, state }: Session, network: NetworkInfo | undefined): Facts {
  const sessionId = id === UNNAMED_SESSION ? undefined : id
  return { side: 'server', revision: state.revision, sessionId, network }
}

/** Returns an exchange that reports the notifications and the requests that are sent through it. */
function observeSending(
  exchange: Exchange,
  reporter: TelemetryReporter,
  facts: Facts,
  running: RunningObservation,
): Exchange {
  const { session } = exchange
  const observedSession =
    session &&
    withMembers<Session>(session, {
      request(method, params, options) {
        const message = { ...facts, method, params: params as JsonObject | undefined, isRequest: true }
        return reporter.send(message, running, (sent, { onId }) => session.request(method, sent, { ...options, onId }))
      },
    })
  return withMembers<Exchange>(exchange, {
    session: observedSession,
    notify(method, params) {
      // Count the acknowledgement as the response, because the response of a subscription is sent at its end.
      if (method === 'notifications/subscriptions/acknowledged') running.end({})
      const message = { ...facts, method, params, isRequest: false }
      return reporter.send(message, running, (sent) => exchange.notify(method, sent))
    },
  })
}
