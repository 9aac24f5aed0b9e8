/** What all connections of one client share: its options, its callbacks, and what it keeps. */

import {
  type Change,
  ConnectionError,
  check,
  guarded,
  type Implementation,
  type LoggingLevel,
  LoggingMessageNotificationParams,
  type NotificationMessage,
  type RequestOptions,
} from '@mcpx/protocol'
import { createHandlers, type Handlers } from './handlers.ts'
import type { CallOptions, ClientOptions, Progress } from './options.ts'
import { createResponseCache, type ResponseCache } from './response-cache.ts'
import type { Turns } from './turns.ts'

export interface Core {
  readonly options: ClientOptions
  readonly handlers: Handlers
  readonly cache: ResponseCache
  /** What to call this client where it has to say a name. */
  readonly clientInfo: Implementation
  readonly maxTimeout: number
  logLevel: LoggingLevel | undefined
  report(problem: Error): void
  /** Takes a notification that names no call. */
  hear(notification: NotificationMessage): void
  /** What the server says during calls that want to hear it; absent before the first of them. */
  turns: Turns | undefined
  /** Something changed: what is kept of it is dropped. */
  changed(change: Change): void
}

export const VERSION = '0.0.0'

export function createCore(options: ClientOptions): Core {
  const { cache = 256 } = options
  const responses = createResponseCache(cache === false ? 0 : cache)
  const report = guarded(options.onWarning)
  const onLog = options.onLog && guarded(options.onLog, report)
  const core: Core = {
    options,
    handlers: createHandlers(options),
    cache: responses,
    clientInfo: options.clientInfo || { name: 'mcpx', version: VERSION },
    maxTimeout: options.maxTimeout ?? 600_000,
    logLevel: options.logLevel ?? (onLog && 'info'),
    turns: undefined,
    report,
    hear(notification) {
      const entry = logEntryOf(notification, report)
      // Where several calls listen, nothing says whose message it is: none of them gets what may be another's.
      const hear = core.turns?.onLog === undefined ? onLog : guarded(core.turns.onLog, report)
      if (entry !== undefined) hear?.(entry)
    },
    changed: (change) => responses.invalidate(change),
  }
  return core
}

/** The log message that a notification carries; an unreadable one is reported. */
function logEntryOf({ method, params }: NotificationMessage, report: Core['report']) {
  if (method !== 'notifications/message') return undefined
  const { value, problem } = check(LoggingMessageNotificationParams, params, 'params')
  if (problem !== undefined) report(new ConnectionError('invalid-message', `A log message was ignored. ${problem}`))
  return value
}

/** How a call is sent; its carrier may hand it back with what the server asks during the call. */
export interface SentOptions extends RequestOptions {
  onAsk?: CallOptions['onAsk']
}

/** How a call is sent; what comes before its answer finds its callbacks. */
export function sendOptions(core: Core, { signal, timeout, maxTimeout, ...call }: CallOptions): SentOptions {
  const { onProgress, onNotification, onLog, onAsk } = call
  const options: SentOptions = {
    signal,
    timeout: timeout ?? core.options.timeout,
    maxTimeout: maxTimeout ?? core.options.maxTimeout,
  }
  if (onAsk !== undefined) options.onAsk = onAsk
  if (onProgress === undefined && onNotification === undefined && onLog === undefined) return options
  options.onNotification = (notification) => {
    guarded(onNotification, core.report)(notification)
    if (notification.method === 'notifications/progress') tellProgress(notification, guarded(onProgress, core.report))
    else if (onLog === undefined) core.hear(notification)
    else {
      const entry = logEntryOf(notification, core.report)
      if (entry !== undefined) guarded(onLog, core.report)(entry)
    }
  }
  return options
}

function tellProgress({ params = {} }: NotificationMessage, onProgress: (progress: Progress) => void): void {
  const { progress, total, message } = params
  if (typeof progress !== 'number') return
  onProgress({
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  })
}

/** The change that a notification tells of. */
export function changeOf({ method, params }: NotificationMessage): Change | undefined {
  const kind = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method)?.[1]
  if (kind !== undefined) return { kind } as Change
  if (method !== 'notifications/resources/updated' || typeof params?.uri !== 'string') return undefined
  return { kind: 'resource', uri: params.uri }
}
