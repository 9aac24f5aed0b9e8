/** The shared state of all connections of one client: options, callbacks, cache, and the order of calls. */

import {
  type ClientCapabilities,
  ConnectionError,
  type ConnectionErrorReason,
  check,
  createDebugObserver,
  guarded,
  type Implementation,
  type InputRequest,
  type InputResponse,
  type LoggingLevel,
  LoggingMessageNotificationParams,
  type MessageObserver,
  type NotificationMessage,
  type RequestOptions,
  TelemetryReporter,
} from '@mcpx/protocol'
import { Extensions } from './extensions.ts'
import { answerInputRequest, checkRoots, declaredCapabilities } from './input-requests.ts'
import { LockGuard } from './lock.ts'
import type { CallOptions, ClientOptions, InputRequestOrigin, Progress } from './options.ts'
import { createResponseCache, type ResponseCache } from './response-cache.ts'
import { TASKS } from './tasks.ts'
import { Turns } from './turns.ts'

/** The version in package.json, which the build sets. Undefined in the sources of the repository. */
declare const PACKAGE_VERSION: string | undefined
const VERSION = typeof PACKAGE_VERSION === 'string' ? PACKAGE_VERSION : '0.0.0'

/** The options of a request, with the callback that answers the input requests of the server during it. */
export interface SentOptions extends RequestOptions {
  readonly onInputRequest?: CallOptions['onInputRequest']
}

export class ClientState {
  readonly options: ClientOptions
  /** The capabilities that the options declare, without extensions. */
  readonly capabilities: ClientCapabilities
  readonly extensions: Extensions
  /** The capabilities and the extensions that modern requests declare. */
  readonly modernCapabilities: ClientCapabilities
  /** The name and version of this client, for messages in which the protocol requires them. */
  readonly clientInfo: Implementation
  readonly cache: ResponseCache
  readonly turns: Turns
  /** Reports a warning. It never throws, even if the callback of the user does. */
  readonly onWarning: (warning: Error) => void
  readonly #tolerated = new Set<string>()
  /** Observes the messages of the connection, to debug it. */
  readonly observer: MessageObserver | undefined
  /** Compares the lists of the server with the option `lock`. */
  readonly lock: LockGuard | undefined
  /** Reports to the observer of the option `telemetry`. */
  readonly reporter: TelemetryReporter | undefined
  /** Answers an input request by the callbacks of the client. */
  readonly answerInput: (request: InputRequest, origin: InputRequestOrigin) => Promise<InputResponse>
  /** The lowest level of log messages that this client wants. */
  logLevel: LoggingLevel | undefined

  /** @param label the beginning of the lines of `debug` */
  constructor(options: ClientOptions, label: string) {
    const { cache = 256, clientInfo, debug, extensions = [], lock, onLockDifference, onLog, onWarning, roots } = options
    const { tasks, telemetry } = options
    if (roots !== undefined && typeof roots !== 'function') checkRoots(roots)
    this.options = options
    this.onWarning = guarded(onWarning)
    this.capabilities = declaredCapabilities(options)
    this.extensions = new Extensions(tasks === false ? [] : [TASKS], extensions, this.onWarning)
    this.modernCapabilities = this.extensions.declare('modern', this.capabilities)
    this.clientInfo = clientInfo || { name: 'mcpx', version: VERSION }
    this.cache = createResponseCache(cache === false ? 0 : cache)
    this.turns = new Turns(this.capabilities)
    this.lock = lock && new LockGuard(lock, onLockDifference && guarded(onLockDifference, this.onWarning))
    this.observer = createDebugObserver(label, debug)
    this.reporter = telemetry && new TelemetryReporter(telemetry, this.onWarning)
    this.answerInput = (request, origin) => answerInputRequest(options, request, origin)
    this.logLevel = options.logLevel ?? (onLog && 'info')
  }

  /** Reports a violation of the protocol that the client accepts, as other clients do. Each kind is reported once. */
  tolerate(kind: string, message: string, reason: ConnectionErrorReason = 'invalid-message'): void {
    if (this.#tolerated.has(kind)) return
    this.#tolerated.add(kind)
    const hint = 'The client continues; report this to the author of the server.'
    this.onWarning(new ConnectionError(reason, message, { hint }))
  }

  /**
   * Handles a notification of an extension, or a log message. `onLog` is the callback of the call on whose stream it
   * arrived. Otherwise, if several calls have an `onLog`, the message may belong to any of these calls, so only the
   * client's `onLog` is called.
   */
  handle(notification: NotificationMessage, onLog = this.turns.onLog ?? this.options.onLog): void {
    if (this.extensions.handle(notification)) return
    const entry = this.#readLog(notification)
    if (entry !== undefined) guarded(onLog, this.onWarning)(entry)
  }

  /** Returns the options for the transport. They pass the notifications of the request to the callbacks of the call. */
  sentOptions(label: string, { signal, timeout, maxTimeout, onInputRequest, ...call }: CallOptions): SentOptions {
    const { onProgress, onNotification, onLog } = call
    const options: SentOptions = {
      label,
      signal,
      timeout: timeout ?? this.options.timeout,
      maxTimeout: maxTimeout ?? this.options.maxTimeout,
      ...(onInputRequest !== undefined && { onInputRequest }),
    }
    // Do not request progress if neither a callback nor a timeout needs it.
    if (options.timeout === Number.POSITIVE_INFINITY && !(onProgress || onNotification || onLog)) return options
    options.onNotification = (notification) => {
      guarded(onNotification, this.onWarning)(notification)
      if (notification.method === 'notifications/progress') {
        const progress = readProgress(notification)
        if (progress !== undefined) guarded(onProgress, this.onWarning)(progress)
      } else this.handle(notification, onLog)
    }
    return options
  }

  /** Returns the log message of a notification. If it is malformed, reports a warning and returns undefined. */
  #readLog({ method, params }: NotificationMessage): LoggingMessageNotificationParams | undefined {
    if (method !== 'notifications/message') return undefined
    const { value, problem } = check(LoggingMessageNotificationParams, params, 'params')
    if (problem !== undefined) {
      this.onWarning(new ConnectionError('invalid-message', `A log message was ignored. ${problem}`))
    }
    return value
  }
}

function readProgress({ params = {} }: NotificationMessage): Progress | undefined {
  const { progress, total, message } = params
  if (typeof progress !== 'number') return undefined
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  }
}
