/**
 * A connection of the modern era: every request names the client, the revision and the capabilities of the client.
 * Changes arrive on the stream of a `subscriptions/listen` request.
 */

import {
  type ClientCapabilities,
  type Connection,
  ConnectionError,
  check,
  type DiscoverResult,
  type Envelope,
  ErrorCode,
  InputRequiredResult,
  type JsonObject,
  LATEST_MODERN_REVISION,
  LONGEST_TIMER,
  type LoggingLevel,
  type NotificationMessage,
  quoted,
  type Revision,
  RpcError,
  requestEntry,
  type SubscriptionFilter,
  SubscriptionsAcknowledgedNotificationParams,
  serverInfoOf,
  TASKS_EXTENSION,
  withEnvelope,
} from '@mcpx/protocol'
import type { UndeterminedConnection } from './connection.ts'
import {
  allowedFilter,
  type ChangeListener,
  changeOf,
  checkResult,
  checkResultOf,
  type EraConnection,
  type FirstRequestOptions,
  invalidResult,
  newestRevision,
  requestLabel,
  type ServerFacts,
  type Side,
  withCallMeta,
} from './era.ts'
import { INPUT_CALLBACKS } from './input-requests.ts'
import { answerInputRequests } from './modern-input.ts'
import type { CallOptions, ClientOptions, RequestCallOptions } from './options.ts'
import type { ClientState } from './state.ts'

/** The default time in which a server must respond to `server/discover`, in ms. Connectors can have another default. */
export const PROBE_TIMEOUT = 5_000

/** Returns the supported revisions in the error for an unsupported revision. Returns undefined for other errors. */
export function supportedBy(error: unknown): unknown {
  if (!(error instanceof RpcError) || error.code !== ErrorCode.UnsupportedProtocolVersion) return undefined
  return (error.data as JsonObject | undefined)?.supported
}

/** Sends `server/discover`, in one revision. Resolves to the result, which has not been validated. */
export async function discoverServer(
  state: ClientState,
  connection: Connection,
  revision: Revision = LATEST_MODERN_REVISION,
  options: FirstRequestOptions,
): Promise<unknown> {
  const params = withEnvelope(undefined, envelopeOf(state, revision, {}))
  return connection.request('server/discover', params, { ...options, announceCancel: false })
}

const guardStatuses: readonly number[] = [401, 403, 407, 408, 429]

/**
 * Returns whether this is an error with which a legacy server refuses a modern request. Guards and outages cause other
 * errors.
 */
export function isLegacyRefusal(error: unknown): boolean {
  if (error instanceof RpcError) return !isModernOnly(error)
  if (!(error instanceof ConnectionError) || error.reason !== 'refused') return false
  const { status = 0 } = error
  return status >= 400 && status < 500 && !guardStatuses.includes(status)
}

/** Returns whether only modern servers send this error. */
function isModernOnly({ code, data }: RpcError): boolean {
  if (code === ErrorCode.HeaderMismatch || code === ErrorCode.MissingRequiredClientCapability) return true
  const supported = (data as { supported?: unknown } | undefined)?.supported
  return code === ErrorCode.UnsupportedProtocolVersion && Array.isArray(supported) && supported.length > 0
}

/** Creates the envelope of a request. */
function envelopeOf(state: ClientState, protocolVersion: Revision, options: RequestCallOptions): Envelope {
  const { capabilities } = options
  return {
    protocolVersion,
    clientCapabilities: capabilities ? state.extensions.declare('modern', capabilities) : state.modernCapabilities,
    clientInfo: state.options.clientInfo === false ? undefined : state.clientInfo,
    logLevel: options.logLevel ?? state.logLevel,
  }
}

export class ModernConnection implements EraConnection {
  readonly era = 'modern'
  readonly connection: Connection
  server: ServerFacts
  revision: Revision
  readonly #state: ClientState
  readonly #undetermined: UndeterminedConnection
  /** Aborted when the connection ends. */
  readonly #closing = new AbortController()
  /** Whether the server has stopped supporting all modern revisions. */
  #isOutdated = false
  /** The last warning about a stream of changes, so that it is not repeated. */
  #lastWarning: string | undefined

  /** @param discovered the result of `server/discover`, which is cached like other results. */
  constructor(
    state: ClientState,
    undetermined: UndeterminedConnection,
    discovered: DiscoverResult,
    revision: Revision,
  ) {
    this.connection = undetermined.connection
    this.server = factsOf(discovered)
    this.revision = revision
    this.#state = state
    this.#undetermined = undetermined
    undetermined.listener = { handle: (notification) => state.handle(notification) }
    void this.connection.closed.then((reason) => {
      this.#closing.abort(reason ?? new ConnectionError('closed', 'The connection was closed'))
    })
    state.cache.fetching('server/discover', {})(discovered as unknown as JsonObject)
    warnOfDeprecated(state.options)
  }

  get ended(): boolean {
    return this.#undetermined.ended || this.#isOutdated
  }

  get hasSeparateStreams(): boolean {
    return this.connection.hasSeparateStreams === true
  }

  /**
   * Returns the cached result, or sends the request. Answers input requests and repeats the request until its result is
   * complete. Caches only results that needed no input.
   */
  async request(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject> {
    const { cache } = this.#state
    const isCacheable = requestEntry(this.revision, method)?.cacheable === true && isPlain(params, options)
    const kept = isCacheable && options.fresh !== true ? cache.get(method, params) : undefined
    if (kept !== undefined) return kept
    const keep = isCacheable ? cache.fetching(method, params) : undefined
    const startTime = performance.now()
    let result: JsonObject
    try {
      result = await this.#send(method, params, options)
    } catch (error) {
      if (!(error instanceof RpcError)) throw await this.#explainRefusal(error)
      cache.dropAfterError(method, error.code)
      throw options.capabilities === undefined ? withRemedy(error) : error
    }
    if (result.resultType !== 'input_required') {
      keep?.(result)
      return result
    }
    if (options.input === 'pass') return result
    return answerInputRequests(result as unknown as InputRequiredResult, {
      state: this.#state,
      server: this.server,
      closing: this.#closing.signal,
      startTime,
      method,
      params,
      options,
      send: (...retry) => this.#send(...retry),
    })
  }

  /** Sends a request. If the server names another revision that both support, sends it once more with this revision. */
  async #send(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject> {
    const sent = withCallMeta(params, options.meta)
    try {
      return await this.#sendOnce(method, sent, options)
    } catch (error) {
      const supported = supportedBy(error)
      if (supported === undefined) throw error
      const mutual = newestRevision(supported, 'modern')
      if (mutual === undefined) {
        this.#isOutdated = true
        throw error
      }
      this.revision = mutual
      return this.#sendOnce(method, sent, options)
    }
  }

  /**
   * Explains an HTTP status with which legacy servers refuse modern requests: sends `server/discover`. If the server
   * refuses this too, a legacy server has replaced the modern server. The connection then ends, and the returned error
   * says that the request can be sent again.
   */
  async #explainRefusal(error: unknown): Promise<unknown> {
    const { era = 'auto' } = this.#state.options
    if (era !== 'auto' || !(error instanceof ConnectionError) || !isLegacyRefusal(error)) return error
    try {
      await discoverServer(this.#state, this.connection, this.revision, {
        signal: this.#closing.signal,
        timeout: PROBE_TIMEOUT,
      })
      return error
    } catch (refusal) {
      if (!isLegacyRefusal(refusal)) return error
      const replaced = replacedError(error)
      await this.connection.close(replaced)
      return replaced
    }
  }

  /** Resolves to a validated result, complete or `input_required`. Does not validate results of types that extensions add. */
  async #sendOnce(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject> {
    const { revision } = this
    const label = requestLabel(method, params)
    const sent = withEnvelope(params, envelopeOf(this.#state, revision, options))
    const result = (await this.connection.request(method, sent, this.#state.sentOptions(label, options))) as JsonObject
    const { resultType = 'complete' } = result
    if (resultType === 'complete') return checkResultOf(this.#state, revision, method, label, result)
    const { extensions } = this.#state
    const { mayAsk } = requestEntry(revision, method) ?? extensions.method('modern', method) ?? {}
    if (resultType === 'input_required' && mayAsk) return checkUnfinished(result, label)
    if (options.resultTypes?.includes(resultType as string)) return result
    if (extensions.completion(method, resultType) !== undefined) return result
    throw invalidResult(label, 'result.resultType: expected a type that this request allows')
  }

  async listen(filter: SubscriptionFilter, listener: ChangeListener): Promise<Side> {
    const notifications = allowedFilter(filter, this.server.capabilities, this.#state.extensions)
    const stop = new AbortController()
    const cancel = () => stop.abort(listener.signal.reason)
    const abort = () => stop.abort(notConfirmedError(listener.timeout))
    const timer = listener.timeout > LONGEST_TIMER ? undefined : setTimeout(abort, listener.timeout)
    let endedByServer = false

    const onNotification = (notification: NotificationMessage) => {
      const { method, params } = notification
      const change = changeOf(notification)
      if (change !== undefined) listener.onChange(change)
      else if (method === 'notifications/subscriptions/acknowledged') {
        clearTimeout(timer)
        listener.onReady(this.#readFollowed(filter, params))
      } else if (method === 'notifications/cancelled') {
        endedByServer = true
        stop.abort(new ConnectionError('cancelled', 'The server ended the subscription'))
      } else this.#state.handle(notification)
    }

    listener.signal.addEventListener('abort', cancel)
    if (listener.signal.aborted) cancel()
    try {
      const params = withEnvelope({ notifications }, envelopeOf(this.#state, this.revision, {}))
      await this.connection.request('subscriptions/listen', params, {
        signal: stop.signal,
        timeout: Number.POSITIVE_INFINITY,
        maxTimeout: Number.POSITIVE_INFINITY,
        onNotification,
      })
      return 'server'
    } catch (error) {
      if (endedByServer) return 'server'
      if (listener.signal.aborted) return 'client'
      throw stop.signal.aborted ? stop.signal.reason : await this.#explainRefusal(error)
    } finally {
      clearTimeout(timer)
      listener.signal.removeEventListener('abort', cancel)
    }
  }

  /** Returns the part of the filter that the server confirmed. Warns about the missing part, but not twice in a row. */
  #readFollowed(filter: SubscriptionFilter, params: unknown): SubscriptionFilter {
    const { extensions, onWarning } = this.#state
    const { value, problem } = check(SubscriptionsAcknowledgedNotificationParams, params, 'params')
    if (problem !== undefined) {
      onWarning(new ConnectionError('invalid-message', `The confirmation of a subscription is invalid. ${problem}`))
      return {}
    }
    const isMissing = (name: string) =>
      !(name in value.notifications) && extensions.subscriptionOwner(name) === undefined
    const missing = Object.keys(filter).filter(isMissing)
    const warning = missing.length === 0 ? undefined : `The server does not announce ${missing.join(', ')}`
    if (warning !== undefined && warning !== this.#lastWarning) onWarning(new ConnectionError('unsupported', warning))
    this.#lastWarning = warning
    return value.notifications
  }

  async discover(options: CallOptions): Promise<ServerFacts> {
    this.server = factsOf((await this.request('server/discover', {}, options)) as unknown as DiscoverResult)
    return this.server
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    this.#state.logLevel = level
  }

  async ping(): Promise<void> {
    const hint = 'Call discover({ fresh: true }) to check that the server responds.'
    throw new ConnectionError('unsupported', `Revision ${this.revision} has no ping`, { hint })
  }

  /** Has no effect, because a modern server requests the roots each time it needs them. */
  async notifyRootsChanged(): Promise<void> {}
}

function factsOf(result: DiscoverResult): ServerFacts {
  return { info: serverInfoOf(result), capabilities: result.capabilities, instructions: result.instructions }
}

/** Returns whether the response depends only on the method and its parameters. */
function isPlain(params: JsonObject, { meta, capabilities }: RequestCallOptions): boolean {
  return meta === undefined && capabilities === undefined && !('inputResponses' in params || 'requestState' in params)
}

function checkUnfinished(result: JsonObject, label: string): JsonObject {
  const { inputRequests, requestState } = checkResult(InputRequiredResult, label, result)
  if (inputRequests !== undefined || requestState !== undefined) return result
  throw invalidResult(label, 'result: expected inputRequests or requestState, got neither')
}

/** Names the options of `connect` that declare missing capabilities. */
function withRemedy(error: RpcError): RpcError {
  if (error.code !== ErrorCode.MissingRequiredClientCapability) return error
  const { requiredCapabilities: required = {} } = (error.data ?? {}) as { requiredCapabilities?: ClientCapabilities }
  const options = Object.entries(INPUT_CALLBACKS).flatMap(([method, option]) =>
    Object.keys(required).some((capability) => method.startsWith(`${capability}/`)) ? [option] : [],
  )
  for (const id of Object.keys(required.extensions ?? {})) {
    options.push(id === TASKS_EXTENSION ? 'tasks: true' : `the extension ${quoted(id)}`)
  }
  if (options.length === 0) return error
  const message = `${error.message}. Pass ${options.join(' and ')} to connect`
  return new RpcError(error.code, message, { data: error.data, cause: error })
}

/** The error of a stream of changes that the server did not confirm. */
function notConfirmedError(timeout: number): ConnectionError {
  const hint = 'Pass a longer timeout.'
  return new ConnectionError('timeout', `The server did not confirm the subscription within ${timeout} ms`, { hint })
}

/** Creates the error of a request that was refused because a legacy server has replaced the modern one. */
function replacedError(cause: ConnectionError): ConnectionError {
  const hint = 'Connect again; the server did not process the request.'
  const options = { retryable: true, hint, status: cause.status as number, cause }
  return new ConnectionError('closed', 'The server no longer supports the modern era', options)
}

interface Process {
  emitWarning?(message: string, options: { type: string; code: string }): void
}

const warned = new Set<string>()

/** Emits a `DeprecationWarning`, once in a process, for each deprecated feature that the options use. */
function warnOfDeprecated({ onSample, roots, onLog, logLevel }: ClientOptions): void {
  const { process } = globalThis as { readonly process?: Process }
  const features = [
    ['sampling', onSample, 'let servers call the API of a model themselves'],
    ['roots', roots, 'name folders in the arguments of tools, or in the configuration of the server'],
    ['logging', onLog ?? logLevel, "read the server's standard error, or its traces"],
  ] as const
  for (const [feature, option, remedy] of features) {
    if (option === undefined || warned.has(feature)) continue
    warned.add(feature)
    const message = `@mcpx/client: ${feature} is deprecated in the newest revision of the protocol; ${remedy}`
    process?.emitWarning?.(message, { type: 'DeprecationWarning', code: `MCPX_${feature.toUpperCase()}` })
  }
}
