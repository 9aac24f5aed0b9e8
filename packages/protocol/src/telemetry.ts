/**
 * The interface through which servers and clients report their messages to an observer, such as `telemetry()` of
 * `@mcpx/telemetry`, and the reporter that calls it.
 */

import { type Awaitable, guarded } from './async.ts'
import { ConnectionError, type ErrorObject } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { isObject } from './json.ts'
import type { JsonObject, RequestId, ResponseMessage } from './messages.ts'

/** The network connection that carries a message, as far as its transport knows it. */
export interface NetworkInfo {
  /** `pipe` over stdio; `tcp`, `quic` or `unix` over HTTP. Default: unknown, as within a process. */
  readonly transport?: 'pipe' | 'tcp' | 'quic' | 'unix' | undefined
  /** The protocol below MCP, such as `http`. Default: none. */
  readonly protocol?: string | undefined
  /** The version of that protocol, such as `1.1`. Default: unknown. */
  readonly protocolVersion?: string | undefined
  /** The address or the host name of the peer. Default: unknown. */
  readonly address?: string | undefined
  /** The port of the peer. Default: unknown. */
  readonly port?: number | undefined
}

/** A request or a notification that is sent or received. */
export interface ObservedMessage {
  /** The reporting side. In the legacy era servers send requests as well, and clients receive them. */
  readonly side: 'client' | 'server'
  /** The method, as sent. It may be unknown. */
  readonly method: string
  /** The parameters, before `Observation.meta` is added to them. */
  readonly params: JsonObject | undefined
  /** Whether the message is a request; otherwise it is a notification. */
  readonly isRequest: boolean
  /** The id of a received request. A sent request has no id yet; `Observation.onId` receives it. */
  readonly id?: RequestId | undefined
  /** The revision of the message. Undefined before it is negotiated, and for an unknown one. */
  readonly revision: string | undefined
  /** The id of the session. Legacy era over HTTP only. */
  readonly sessionId: string | undefined
  /** The connection. Undefined within a process. */
  readonly network: NetworkInfo | undefined
}

/**
 * Work that is not a single message:
 * - `call`: one call of a client. It may send several requests, for example after input requests or to a new session.
 * - `input`: a client answers an input request in a result. In the legacy era, it answers a request of the server.
 * - `delegate`: a server passes a request to a mounted handler, or a proxy to the server of its client.
 * - `task`: the work on a task after the response to its call, or in another process.
 */
export interface ObservedWork {
  /** The kind of work. */
  readonly kind: 'call' | 'input' | 'delegate' | 'task'
  /** The method of the request, such as `tools/call`. */
  readonly method: string
  /** The parameters of the request. For `delegate`, they contain the name of the item in the mounted handler. */
  readonly params: JsonObject | undefined
  /** The prefix of a mounted handler. Undefined for a proxy and for all other work. */
  readonly prefix?: string | undefined
  /** The id of the task. Undefined for other work. */
  readonly taskId?: string | undefined
}

/**
 * The outcome of a message or of work. An empty object means that a notification was sent or handled, or that a
 * subscription began.
 */
export interface Outcome {
  /** The result of a request. A tool that failed has `isError`. */
  readonly result?: JsonObject | undefined
  /**
   * The error. For a received request, it is the error of the response, or a `ConnectionError` (reason `cancelled`).
   * For a sent request, it is the `RpcError` of the response, or the `ConnectionError` that says why there is no
   * response.
   */
  readonly error?: ErrorObject | Error | undefined
}

/** Observes one message or one piece of work. All members are optional. */
export interface Observation {
  /** Calls the function and returns its result, for example in the async context of a span. Called once. */
  run?<Result>(run: () => Result): Result
  /** Members to add to the `_meta` of a sent message. They replace members of the same name. */
  readonly meta?: JsonObject | undefined
  /** Called with the id of a request before it is sent. */
  onId?(id: RequestId): void
  /** Called once, at the end. */
  end?(outcome: Outcome): void
}

/** A legacy session that has ended. */
export interface EndedSession extends Pick<ObservedMessage, 'side' | 'revision' | 'network'> {
  /** How long the session lasted, in ms. */
  readonly duration: number
  /** The error that ended it. Undefined if it was closed. */
  readonly error: ConnectionError | undefined
}

/** An HTTP request that an endpoint has refused before its message was handled. */
export interface RefusedRequest {
  /** The HTTP status of the response, such as 401 or 429. */
  readonly status: number
  /** The connection, as far as the endpoint knows it. */
  readonly network: NetworkInfo | undefined
}

/** The current load of a part of a server in this process. A part is an endpoint or the tasks extension. */
export interface ServerLoad {
  /** Requests that are being handled. */
  readonly requests?: number | undefined
  /** Legacy sessions with a running request or an open stream. */
  readonly sessions?: number | undefined
  /** Open SSE streams. */
  readonly streams?: number | undefined
  /** Tasks that this process works on, by status. */
  readonly tasks?: Readonly<Record<string, number>> | undefined
}

/**
 * Observes the messages of servers and clients. It is the type of the option `telemetry` of `createServer` and
 * `connect`. All members are optional. If a member throws, the error is reported as a warning, and the call continues.
 * `telemetry()` of `@mcpx/telemetry` implements this interface with OpenTelemetry.
 *
 * ```ts
 * const slow: Telemetry = {
 *   onReceive({ method }) {
 *     const start = performance.now()
 *     return { end: () => performance.now() - start > 1_000 && logger.warn(`${method} was slow`) }
 *   },
 * }
 * ```
 */
export interface Telemetry {
  /**
   * Whether the observer is active. Read before each message and work; if false, the other members are not called.
   * Default: true.
   */
  readonly isActive?: boolean | undefined
  /** Called with each message before it is handled. Returns its observation, or undefined to ignore it. */
  onReceive?(message: ObservedMessage): Observation | undefined
  /**
   * Called with each message before it is sent. `during` is the observation of the received message to which it
   * belongs, if there is one.
   */
  onSend?(message: ObservedMessage, during: Observation | undefined): Observation | undefined
  /** Called before work begins. */
  onWork?(work: ObservedWork): Observation | undefined
  /** Called when a legacy session has ended. Sessions that expire in a store are not reported. */
  onSessionEnd?(session: EndedSession): void
  /**
   * Called when an endpoint has refused an HTTP request because of its caller, its headers, its body or a limit. Its
   * message was not handled, so `onReceive` was not called.
   */
  onRefuse?(refused: RefusedRequest): void
  /** Called when a transport or an extension begins to serve. Returns a function that is called when it has ended. */
  onServe?(readLoad: () => ServerLoad): (() => void) | undefined
}

const NOTHING: Outcome = {}
const CANCELLED: Outcome = { error: new ConnectionError('cancelled', 'The request was cancelled') }

/** One observation that is under way. It never throws an error of the observer. */
export class RunningObservation {
  /** The observation that the observer returned. Undefined if the observer ignores the message. */
  readonly observation: Observation | undefined
  readonly #onError: (error: Error) => void
  #hasEnded = false

  constructor(start: () => Observation | undefined, onError: (error: Error) => void) {
    this.#onError = onError
    this.observation = this.#guard(start)
  }

  /** Adds the `_meta` members of the observation to parameters. */
  addMeta(params: JsonObject | undefined): JsonObject | undefined {
    const meta = this.#guard(() => this.observation?.meta)
    if (meta === undefined) return params
    return { ...params, _meta: { ...(isObject(params?._meta) ? params._meta : undefined), ...meta } }
  }

  /** Reports the id of a sent request. */
  readonly onId = (id: RequestId): void => this.#guard(() => this.observation?.onId?.(id))

  /** Reports the outcome. Only the first call has an effect. */
  end(outcome: Outcome): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#guard(() => this.observation?.end?.(outcome))
  }

  /** Runs a function within the observation, and ends the observation with its outcome. */
  async complete<Result>(run: () => Awaitable<Result>, outcomeOf: (result: Result) => Outcome): Promise<Result> {
    try {
      const result = await this.#run(run)
      this.end(outcomeOf(result))
      return result
    } catch (error) {
      this.end({ error: error instanceof Error ? error : new Error(String(error)) })
      throw error
    }
  }

  #run<Result>(run: () => Awaitable<Result>): Awaitable<Result> {
    const { observation } = this
    if (observation?.run === undefined) return run()
    let started: Promise<Result> | undefined
    const runOnce = () => {
      // An error that `run` throws becomes a rejection, so it is not taken for an error of the observer.
      started ??= (async () => run())()
      return started
    }
    this.#guard(() => observation.run?.(runOnce))
    return runOnce()
  }

  #guard<Result>(call: () => Result): Result | undefined {
    try {
      return call()
    } catch (error) {
      this.#onError(error instanceof Error ? error : new Error(String(error)))
      return undefined
    }
  }
}

/** The observation of an observer that is not active. */
const INACTIVE = new RunningObservation(
  () => undefined,
  () => {},
)

/** How long a request runs before its signal is watched, and how long its handler may continue after an abort, in ms. */
const WATCH_DELAY = 1_000
const ABORT_GRACE = 1_000

/** Ends the observation of a handler that ignores the abort of its request, because it may never return. */
function endAfterAbort(running: RunningObservation, signal: AbortSignal): void {
  const endLater = () => void setTimeout(() => running.end(CANCELLED), ABORT_GRACE)
  if (signal.aborted) endLater()
  else signal.addEventListener('abort', endLater, { once: true })
}

/** Reports to an observer. Servers and clients create a reporter only if the option `telemetry` is set. */
export class TelemetryReporter {
  readonly #telemetry: Telemetry
  readonly #onError: (error: Error) => void

  /** @param onError called with errors of the observer; must not throw */
  constructor(telemetry: Telemetry, onError: (error: Error) => void) {
    this.#telemetry = telemetry
    this.#onError = (cause) => onError(new Error(`telemetry failed: ${cause.message}`, { cause }))
  }

  /** Whether the observer currently records telemetry. */
  get isActive(): boolean {
    return this.#telemetry.isActive !== false
  }

  /** Handles a received message. `handle` receives its observation, to end it early. */
  async receive(
    message: ObservedMessage,
    exchange: Pick<Exchange, 'signal'> | undefined,
    handle: (running: RunningObservation) => Awaitable<ResponseMessage | undefined>,
  ): Promise<ResponseMessage | undefined> {
    if (!this.isActive) return handle(INACTIVE)
    const running = new RunningObservation(() => this.#telemetry.onReceive?.(message), this.#onError)
    // The signal is created when it is read, so fast and successful calls do not read it.
    const watch = exchange && setTimeout(() => endAfterAbort(running, exchange.signal), WATCH_DELAY)
    try {
      return await running.complete(
        () => handle(running),
        (response = NOTHING as ResponseMessage) => {
          const hasFailed = 'error' in response || response.result?.isError === true
          return hasFailed && exchange?.signal.aborted ? CANCELLED : response
        },
      )
    } finally {
      clearTimeout(watch)
    }
  }

  /** Sends a message with the parameters that `send` receives. */
  async send<Result>(
    message: ObservedMessage,
    during: RunningObservation | undefined,
    send: (params: JsonObject | undefined, running: RunningObservation) => Awaitable<Result>,
  ): Promise<Result> {
    if (!this.isActive) return send(message.params, INACTIVE)
    const start = () => this.#telemetry.onSend?.(message, during?.observation)
    const running = new RunningObservation(start, this.#onError)
    const params = running.addMeta(message.params)
    return running.complete(
      () => send(params, running),
      (result) => (isObject(result) ? { result } : NOTHING),
    )
  }

  /** Runs work. `run` receives its observation, to end it early. */
  async work<Result>(work: ObservedWork, run: (running: RunningObservation) => Awaitable<Result>): Promise<Result> {
    if (!this.isActive) return run(INACTIVE)
    const running = new RunningObservation(() => this.#telemetry.onWork?.(work), this.#onError)
    return running.complete(
      () => run(running),
      (result) => (isObject(result) ? { result } : NOTHING),
    )
  }

  /** Reports the end of a legacy session. */
  endSession(session: EndedSession): void {
    guarded(() => this.#telemetry.onSessionEnd?.(session), this.#onError)()
  }
}

/**
 * Returns an object with these members, which are its own members. All other members are read from the target when they
 * are used.
 */
export function withMembers<Target extends object>(target: Target, members: Partial<Target>): Target {
  return new Proxy({} as Target, {
    get(_, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name)
      const member: unknown = Reflect.get(target, name)
      // Methods and getters with private members need the target as `this`.
      return typeof member === 'function' ? member.bind(target) : member
    },
    has: (_, name) => Object.hasOwn(members, name) || name in target,
    ownKeys: () => Reflect.ownKeys(members),
    getOwnPropertyDescriptor(_, name) {
      const own = Reflect.getOwnPropertyDescriptor(members, name)
      return own && { ...own, configurable: true }
    },
  })
}
