/** Events of `node:diagnostics_channel`, for programs without OpenTelemetry. Node, Bun and Deno have this module. */

import { channel } from 'node:diagnostics_channel'
import type {
  EndedSession,
  Observation,
  ObservedMessage,
  ObservedWork,
  Outcome,
  RefusedRequest,
  RequestId,
  Telemetry,
} from '@mcpx/protocol'

/** The names of all channels. */
export const CHANNELS = {
  /** A message was received, and its handler begins: `MessageEvent`. */
  receiveStart: 'mcpx:receive:start',
  /** A received message was handled: the same `MessageEvent`, with its outcome. */
  receiveEnd: 'mcpx:receive:end',
  /** A message is sent: `MessageEvent`. */
  sendStart: 'mcpx:send:start',
  /**
   * A sent notification was accepted, or the response to a sent request has arrived: the same `MessageEvent`, with its
   * outcome.
   */
  sendEnd: 'mcpx:send:end',
  /** Work without a message of its own begins: `WorkEvent`. */
  workStart: 'mcpx:work:start',
  /** Work has ended: the same `WorkEvent`, with its outcome. */
  workEnd: 'mcpx:work:end',
  /** A legacy session has ended: `EndedSession` of `@mcpx/protocol`. */
  sessionEnd: 'mcpx:session:end',
  /** An HTTP request was refused before its message was handled: `RefusedRequest` of `@mcpx/protocol`. */
  refuse: 'mcpx:refuse',
} as const

/** The outcome of a message or of work, on the channels that report an end. */
export interface Ended {
  /** The result or the error. Undefined at the start. */
  outcome?: Outcome
  /** How long it took, in ms. Undefined at the start. */
  duration?: number
}

/** The payload of the channels of messages. Subscribers must not change the message. */
export interface MessageEvent extends Ended {
  /** The message, with the known facts about its connection. */
  readonly message: ObservedMessage
  /** The id of a request. The id of a sent request is undefined until it is sent. */
  id: RequestId | undefined
}

/** The payload of the channels of work. */
export interface WorkEvent extends Ended {
  /** The work. */
  readonly work: ObservedWork
}

/**
 * Creates the option `telemetry` of `createServer` and `connect` that publishes events. Channels without subscribers
 * cost almost nothing. An `AsyncLocalStorage` that is bound to a start channel with `channel.bindStore` is available in
 * the handler.
 *
 * ```ts
 * subscribe(CHANNELS.receiveEnd, ({ message, duration }) => statsd.timing(message.method, duration))
 * const server = createServer(info, { telemetry: diagnostics() })
 * ```
 */
export function diagnostics(): Telemetry {
  const receive = createPair(CHANNELS.receiveStart, CHANNELS.receiveEnd)
  const send = createPair(CHANNELS.sendStart, CHANNELS.sendEnd)
  const work = createPair(CHANNELS.workStart, CHANNELS.workEnd)
  const sessionEnd = channel(CHANNELS.sessionEnd)
  const refuse = channel(CHANNELS.refuse)
  return {
    onReceive: (message) => receive<MessageEvent>({ message, id: message.id }),
    onSend: (message) => send<MessageEvent>({ message, id: undefined }),
    onWork: (observed) => work<WorkEvent>({ work: observed }),
    onSessionEnd: (session: EndedSession) => sessionEnd.publish(session),
    onRefuse: (refused: RefusedRequest) => refuse.publish(refused),
  }
}

/** Returns a function that publishes an event to two channels, at the start and at the end. */
function createPair(startName: string, endName: string) {
  const start = channel(startName)
  const end = channel(endName)
  return <Event extends Ended & { id?: RequestId | undefined }>(event: Event): Observation | undefined => {
    if (!start.hasSubscribers && !end.hasSubscribers) return undefined
    const startTime = performance.now()
    return {
      run: (run) => start.runStores(event, run),
      onId(id) {
        event.id = id
      },
      end(outcome) {
        event.outcome = outcome
        event.duration = performance.now() - startTime
        end.publish(event)
      },
    }
  }
}
