/** The options of clients and calls, and checks that refuse unknown options. */

import {
  type Awaitable,
  type Change,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  checkNumbers,
  type DebugOption,
  type ElicitResult,
  type Era,
  type Implementation,
  type InputRequest,
  type InputResponse,
  isRevision,
  type JsonObject,
  type LoggingLevel,
  type LoggingMessageNotificationParams,
  type NotificationMessage,
  type ProgressNotificationParams,
  quoted,
  REVISIONS,
  type RequestedSchema,
  type Revision,
  type Root,
  refuseUnknownOption,
  type Task,
  type Telemetry,
} from '@mcpx/protocol'
import type { ClientExtension } from './extensions.ts'
import type { LockDifference, ServerLock } from './lock.ts'

/** The origin of an input request, and the signal that ends it. */
export interface InputRequestOrigin {
  /** The name and version that the server reports, to show to the user. They are not verified. */
  readonly server: Implementation | undefined
  /** Aborted when the response is no longer needed. */
  readonly signal: AbortSignal
  /** The key of the input request in its task. It is unique in the task. Undefined if the call is not a task. */
  readonly key?: string | undefined
}

/** An elicitation that asks the user to fill in a form. */
export interface FormElicitation extends InputRequestOrigin {
  /** Always `form`. */
  readonly mode: 'form'
  /** The message for the user. */
  readonly message: string
  /** The fields of the form. */
  readonly schema: RequestedSchema
}

/** An elicitation that asks the user to visit a URL. Show the whole URL, and open it only with consent. */
export interface UrlElicitation extends InputRequestOrigin {
  /** Always `url`. */
  readonly mode: 'url'
  /** The message for the user. */
  readonly message: string
  /** The URL to visit. */
  readonly url: string
}

/** An elicitation that `onElicit` receives. */
export type Elicitation = FormElicitation | UrlElicitation

/** The response of the user to an elicitation. Missing values are filled with the defaults of the form. */
export type ElicitAnswer = Pick<ElicitResult, 'action' | 'content'>

/** Stores the era of each server, so that later connections do not have to detect it. */
export interface EraMemory {
  /** Returns the era of a server, or undefined. */
  get(peer: string): Awaitable<Era | undefined>
  /** Stores the era of a server. Undefined removes it. */
  set(peer: string, era: Era | undefined): Awaitable<void>
}

/** The options of `connect` and `connectAll`. All durations are in ms. */
export interface ClientOptions {
  /**
   * The name and version of this client. With `false`, they are sent only where the protocol requires them. Default: `{
   * name: 'mcpx', version }`.
   */
  readonly clientInfo?: Implementation | false | undefined
  /**
   * The required era or revision of the connection. `connect` fails if the server does not support it. Default: `auto`,
   * which detects the era.
   */
  readonly era?: 'auto' | Era | Revision | undefined
  /** Called when the server asks the user to fill in a form or to visit a URL; declares the elicitation capability. Default: none. */
  readonly onElicit?: ((elicitation: Elicitation) => Awaitable<ElicitAnswer>) | undefined
  /** The kinds of elicitation that `onElicit` supports. Default: both. */
  readonly elicitationModes?: readonly Elicitation['mode'][] | undefined
  /**
   * Returns whether `onElicit` receives a URL. All other URLs are declined with a warning. Default: accepts `https:`,
   * and `http:` on a loopback host.
   */
  readonly allowUrl?: ((url: URL) => boolean) | undefined
  /**
   * Called when the server asks for a message of a model; declares the sampling capability. Throw `userRejected()` when the
   * user declines. Default: none.
   * @deprecated by the newest revision of the protocol; servers of all revisions may still need it.
   */
  readonly onSample?:
    | ((params: CreateMessageRequestParams, origin: InputRequestOrigin) => Awaitable<CreateMessageResult>)
    | undefined
  /** The features that `onSample` supports in addition to text. Default: none. */
  readonly sampling?: { readonly tools?: boolean | undefined; readonly context?: boolean | undefined } | undefined
  /**
   * The folders that the client works in, as `file:` URIs; declares the roots capability. Default: none.
   * @deprecated by the newest revision of the protocol; servers of all revisions may still need it.
   */
  readonly roots?: readonly Root[] | (() => Awaitable<readonly Root[]>) | undefined
  /** Extensions of the protocol. Default: none. */
  readonly extensions?: readonly ClientExtension[] | undefined
  /**
   * Whether a server may respond to a tool call with a task. The client then polls the task until it ends. Applies to
   * the extension `io.modelcontextprotocol/tasks` and to the tasks of 2025-11-25. Default: true.
   */
  readonly tasks?: boolean | undefined
  /**
   * Additional capabilities to declare, for example for extensions without methods or for `onInputRequest`. Default:
   * none.
   */
  readonly capabilities?: ClientCapabilities | undefined
  /**
   * Called with log messages of the server. Default: none.
   * @deprecated by the newest revision of the protocol; servers of all revisions may still need it.
   */
  readonly onLog?: ((entry: LoggingMessageNotificationParams) => void) | undefined
  /**
   * The lowest level of log messages that the server should send. Default: `info` if `onLog` is set, otherwise none.
   */
  readonly logLevel?: LoggingLevel | undefined
  /** Called with list changes, and with updates of the resources that were subscribed to. Default: none. */
  readonly onChange?: ((change: Change) => void) | undefined
  /**
   * How long to wait for a response, in ms. Progress restarts this time. The time in which callbacks answer input requests
   * does not count. After this time, the call rejects with a `ConnectionError` whose reason is `timeout`. Default: 60,000.
   */
  readonly timeout?: number | undefined
  /**
   * The longest duration of a call, in ms. Progress does not extend it. The time in which callbacks answer input requests
   * does not count. After this time, the call rejects with a `ConnectionError` whose reason is `timeout`. Default: 600,000.
   */
  readonly maxTimeout?: number | undefined
  /**
   * The total time in which the server must respond to the first requests of a connection, in ms. After this time,
   * `connect` rejects with a `ConnectionError` whose reason is `timeout`. Default: 30,000.
   */
  readonly connectTimeout?: number | undefined
  /**
   * How often one call may return input requests. Above it, the call rejects with a `ConnectionError` whose reason is
   * `limit`. Default: 10.
   */
  readonly maxRounds?: number | undefined
  /**
   * How many input requests may be open at once. If a modern call returns more at once, it rejects with a
   * `ConnectionError` whose reason is `limit`. If a legacy server sends more before it receives responses, it receives
   * errors. During one call, a legacy server may send `maxRounds` times as many in total. 16 input requests are answered
   * at the same time. Default: 100.
   */
  readonly maxInputRequests?: number | undefined
  /**
   * How many pages of one list are read. A longer list rejects with a `ConnectionError` whose reason is `limit`.
   * Default: 1,000.
   */
  readonly maxPages?: number | undefined
  /**
   * How many fresh responses are cached. Above this number, the oldest response is removed. `false` disables the cache.
   * Default: 256.
   */
  readonly cache?: number | false | undefined
  /** Remembers the era of each server. Default: one memory for the process. */
  readonly eraMemory?: EraMemory | undefined
  /**
   * The reviewed definitions of the server, as `createLock` and `mcpx lock` return them. A server with other
   * definitions is refused with `LockError`, by `connect` and by each list that has changed later. Default: none.
   */
  readonly lock?: ServerLock | undefined
  /** Called with the differences from `lock`. If it is set, the server is not refused. Default: none. */
  readonly onLockDifference?: ((differences: readonly LockDifference[]) => void) | undefined
  /** Called with every problem that was handled: messages that were ignored, dropped or masked. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
  /**
   * Writes each message that is sent or received to standard error, as one line without secrets, in which long values
   * are cut. If it is a function, the function receives the lines instead. Default: whether the environment variable
   * `MCPX_DEBUG` is set.
   */
  readonly debug?: DebugOption | undefined
  /** Observes all messages, for example `telemetry()` of `@mcpx/telemetry`, which traces them. Default: none. */
  readonly telemetry?: Telemetry | undefined
  /** Cancels connecting. Has no effect on an open client. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/** The options of `connectAll`. Options of `connect` apply to all servers. */
export interface GroupOptions<Name extends string = string> extends ClientOptions {
  /**
   * The separator between the name of a server and the names of its tools and prompts. Default: `_`, as in
   * `git_search`. Names that model APIs refuse are changed: characters other than letters, digits, `_` and `-` become
   * `_`, and names of more than 64 characters are cut.
   */
  readonly separator?: string | undefined
  /**
   * Options for single servers, by the names of the servers. They have precedence over the shared options. Default:
   * none.
   */
  readonly servers?: { readonly [name in Name]?: ClientOptions | undefined } | undefined
}

/** The progress of a call. */
export type Progress = Pick<ProgressNotificationParams, 'progress' | 'total' | 'message'>

/** The options of one call. All durations are in ms. */
export interface CallOptions {
  /** Cancels the call and notifies the server. */
  readonly signal?: AbortSignal | undefined
  /** How long to wait for a response, in ms. Progress restarts this time. Default: `timeout` of the client. */
  readonly timeout?: number | undefined
  /** The longest duration of the call, in ms. Progress does not extend it. Default: `maxTimeout` of the client. */
  readonly maxTimeout?: number | undefined
  /**
   * Called with the progress of the call. A call with a timeout always requests progress, because progress restarts the
   * timeout.
   */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /**
   * Called with each new state of the task, if the server responds with a task. Store its `taskId` to continue with
   * `client.task(id)` later.
   */
  readonly onStatus?: ((task: Task) => void) | undefined
  /** Called with each notification of the server about this call. */
  readonly onNotification?: ((notification: NotificationMessage) => void) | undefined
  /**
   * Metadata for the server. Names have a prefix, such as `example.com/key`. The response to a call with metadata is
   * not cached.
   */
  readonly meta?: JsonObject | undefined
  /**
   * The lowest level of log messages of this call. Default: `logLevel` of the client. Ignored in the legacy era, in
   * which the level belongs to the session.
   */
  readonly logLevel?: LoggingLevel | undefined
  /** Sends the request even if a fresh response is cached. Default: false. */
  readonly fresh?: boolean | undefined
  /**
   * Called with the log messages of this call, instead of the client's `onLog`. Over stdio, a message does not name its
   * call: if several running calls have this callback, the client's `onLog` is called instead.
   */
  readonly onLog?: ((entry: LoggingMessageNotificationParams) => void) | undefined
  /**
   * Answers the input requests of the server during this call, instead of the client's callbacks. Over stdio, input
   * requests of a legacy server do not name their call, so calls with this callback run one after the other.
   */
  readonly onInputRequest?:
    | ((request: InputRequest, origin: InputRequestOrigin) => Awaitable<InputResponse>)
    | undefined
}

/** The options of `client.callTool`. */
export interface ToolCallOptions extends CallOptions {
  /**
   * `handle`: the call resolves to a handle as soon as the server has responded. Default: the call waits for the result
   * of the task.
   */
  readonly task?: 'handle' | undefined
}

/** The options of a `client.callTool` that resolves to a handle. */
export interface HandleCallOptions extends ToolCallOptions {
  readonly task: 'handle'
}

/** The options of `client.request`. */
export interface RequestCallOptions extends CallOptions {
  /** `pass` returns an `input_required` result unchanged. Default: `answer`, which answers its input requests. */
  readonly input?: 'answer' | 'pass' | undefined
  /**
   * The capabilities to declare for this call. Extensions are always declared. Default: the capabilities of the client.
   * Ignored in the legacy era.
   */
  readonly capabilities?: ClientCapabilities | undefined
  /**
   * `own` delays this call over stdio until no other call is running whose log messages could be confused with the
   * messages of this call. Default: `mixed`.
   */
  readonly logs?: 'own' | 'mixed' | undefined
  /** Values of `resultType` of extensions. Results with these types are returned unchanged. Default: none. */
  readonly resultTypes?: readonly string[] | undefined
}

/** The options of `client.listen`. */
export interface ListenOptions {
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined
  /**
   * How long the server may take to confirm, in ms. After this time, the stream ends with a `ConnectionError` whose reason
   * is `timeout`. Default: `timeout` of the client.
   */
  readonly timeout?: number | undefined
}

// The compiler compares these names with the interfaces.

const CLIENT_OPTIONS: Readonly<Record<keyof ClientOptions, true>> = {
  clientInfo: true,
  era: true,
  onElicit: true,
  elicitationModes: true,
  allowUrl: true,
  onSample: true,
  sampling: true,
  roots: true,
  extensions: true,
  tasks: true,
  capabilities: true,
  onLog: true,
  logLevel: true,
  onChange: true,
  timeout: true,
  maxTimeout: true,
  connectTimeout: true,
  maxRounds: true,
  maxInputRequests: true,
  maxPages: true,
  cache: true,
  eraMemory: true,
  lock: true,
  onLockDifference: true,
  onWarning: true,
  debug: true,
  telemetry: true,
  signal: true,
}

const CALL_OPTIONS: Readonly<Record<keyof RequestCallOptions, true>> = {
  signal: true,
  timeout: true,
  maxTimeout: true,
  onProgress: true,
  onStatus: true,
  onNotification: true,
  meta: true,
  logLevel: true,
  fresh: true,
  onLog: true,
  onInputRequest: true,
  input: true,
  capabilities: true,
  logs: true,
  resultTypes: true,
}

/** Throws for an option or an era that does not exist, and for numbers that are out of range. */
export function checkClientOptions(options: ClientOptions, place = 'connect'): void {
  refuseUnknown(place, options, CLIENT_OPTIONS)
  const prefix = place === 'connect' ? '' : `${place}: `
  const { timeout, maxTimeout, maxRounds, maxInputRequests, maxPages, cache } = options
  checkNumbers(prefix, { timeout, maxTimeout, maxRounds, maxInputRequests, maxPages })
  if (cache !== false) checkNumbers(prefix, { cache })
  const { era = 'auto', connectTimeout = 1 } = options
  if (!(connectTimeout > 0)) {
    throw new RangeError(
      `${prefix}connectTimeout: expected a positive number of ms, or Infinity, got ${connectTimeout}`,
    )
  }
  if (era === 'auto' || era === 'modern' || era === 'legacy' || isRevision(era)) return
  const expected = `auto, modern, legacy or one of ${REVISIONS.join(', ')}`
  throw new TypeError(`${prefix}era: expected ${expected}, got ${quoted(String(era))}`)
}

/** Throws for an option of `connectAll` that does not exist. */
export function checkGroupOptions(options: GroupOptions): void {
  refuseUnknown('connectAll', options, { ...CLIENT_OPTIONS, separator: true, servers: true })
}

/** Throws for an option of a call that does not exist, and for a timeout that is out of range. */
export function checkCallOptions(place: string, options: RequestCallOptions): void {
  refuseUnknown(place, options, CALL_OPTIONS)
  const { timeout, maxTimeout } = options
  checkNumbers(`${place}: `, { timeout, maxTimeout })
}

/** Throws for an option of `listen` or `subscribe` that does not exist, and for a timeout that is out of range. */
export function checkListenOptions(options: ListenOptions): void {
  refuseUnknown('listen', options, { signal: true, timeout: true })
  checkNumbers('listen: ', { timeout: options.timeout })
}

/** The names that other libraries use for options. */
const OTHER_NAMES = {
  onElicitation: 'onElicit',
  elicitation: 'onElicit',
  onSampling: 'onSample',
  onCreateMessage: 'onSample',
  onLogging: 'onLog',
  requestTimeout: 'timeout',
  maxTotalTimeout: 'maxTimeout',
  _meta: 'meta',
}

/** Throws for an unknown option, because a misspelled option would have no effect. */
export function refuseUnknown(place: string, options: object, known: Readonly<Record<string, true>>): void {
  refuseUnknownOption(place, options, Object.keys(known), OTHER_NAMES)
}
