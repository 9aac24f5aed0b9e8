/** A connection of the legacy era: a handshake opens a session, and the server can send requests to the client. */

import {
  type Change,
  type ClientRequests,
  type Connection,
  ConnectionError,
  check,
  clientRequestResult,
  ElicitRequestParams,
  type ElicitRequestURLParams,
  type ElicitResult,
  ErrorCode,
  type Exchange,
  eraOf,
  guarded,
  hasCapability,
  type InputRequest,
  internalError,
  invalidParams,
  isRevision,
  type JsonObject,
  LATEST_LEGACY_REVISION,
  type LoggingLevel,
  methodNotFound,
  type NotificationMessage,
  quoted,
  type RequestMessage,
  type Revision,
  RpcError,
  revisionsOf,
  type SubscriptionFilter,
  serverRequestParams,
  stripParamsFor,
  userRejected,
} from '@mcpx/protocol'
import { ConcurrencyLimit, within, withSignal } from './async.ts'
import type { MessageListener, UndeterminedConnection } from './connection.ts'
import {
  type ChangeListener,
  changeOf,
  checkResult,
  checkResultOf,
  type EraConnection,
  type FirstRequestOptions,
  newestRevision,
  requestLabel,
  type ServerFacts,
  type Side,
  withCallMeta,
} from './era.ts'
import { InvalidAnswer, MAX_CONCURRENT_INPUT, MAX_INPUT_REQUESTS, MAX_ROUNDS } from './input-requests.ts'
import { LegacySubscriptions } from './legacy-subscriptions.ts'
import { withRelatedTask } from './legacy-tasks.ts'
import type { CallOptions, InputRequestOrigin, RequestCallOptions } from './options.ts'
import type { ClientState, SentOptions } from './state.ts'

type InitializeResult = ClientRequests['initialize']['result']

/** The input requests of one call. */
interface InputCount {
  /** The input requests that are being answered. */
  readonly limit: ConcurrencyLimit
  /** The number of input requests that the server has sent. */
  received: number
}

/** The result of the handshake. */
type Handshake = Pick<EraConnection, 'revision' | 'server'>

/**
 * Opens a session. Until `start` is called, the server may send only pings.
 *
 * @param offer the only accepted revision. Default: the newest revision is proposed, and the server may select an older
 * one.
 * @param options the signal that cancels opening, and how long the server may take to answer `initialize`, in ms.
 */
export async function openLegacy(
  state: ClientState,
  undetermined: UndeterminedConnection,
  offer: Revision | undefined,
  options: FirstRequestOptions,
): Promise<LegacyConnection> {
  const { connection } = undetermined
  const session = new LegacyConnection(state, undetermined)
  undetermined.listener = session
  const { revision, server } = await shakeHands(state, connection, offer, options)
  session.revision = revision
  session.server = server
  session.isReady = true
  return session
}

export class LegacyConnection implements EraConnection, MessageListener {
  readonly era = 'legacy'
  readonly hasSeparateStreams = false
  readonly connection: Connection
  readonly subscriptions: LegacySubscriptions
  revision: Revision = LATEST_LEGACY_REVISION
  server: ServerFacts = { info: undefined, capabilities: {}, instructions: undefined }
  /** Whether the server has answered `initialize`. Until then, only its pings are answered. */
  isReady = false
  readonly #state: ClientState
  readonly #undetermined: UndeterminedConnection
  /**
   * The input requests of each call. An input request that does not arrive on the stream of a call is counted for the
   * connection. Each call sets this count to 0.
   */
  readonly #inputCounts = new WeakMap<object, InputCount>()
  /** Whether the server was replaced by one that does not support this era. */
  #isOutdated = false

  constructor(state: ClientState, undetermined: UndeterminedConnection) {
    this.connection = undetermined.connection
    this.subscriptions = new LegacySubscriptions(this.connection, state)
    this.#state = state
    this.#undetermined = undetermined
  }

  get ended(): boolean {
    return this.#undetermined.ended || this.#isOutdated
  }

  /** Sends `notifications/initialized`. From now on, the server may send all messages. */
  async start({ signal, timeout }: FirstRequestOptions): Promise<void> {
    const method = 'notifications/initialized'
    const start = async () => {
      await this.connection.notify(method)
      await this.connection.negotiated?.(this.revision, () => this.subscriptions.handleMissed())
    }
    await within(method, { signal, timeout }, start, () => {
      return new ConnectionError('timeout', `${method} was not accepted within ${timeout} ms`)
    })
  }

  async request(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject> {
    try {
      return await this.#send(method, params, options)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (await this.#visitUrls(error, requestLabel(method, params), options))
        return this.#send(method, params, options)
      this.#isOutdated ||=
        error.code === ErrorCode.HeaderMismatch || error.code === ErrorCode.UnsupportedProtocolVersion
      throw error
    }
  }

  async #send(method: string, params: JsonObject, options: CallOptions): Promise<JsonObject> {
    const label = requestLabel(method, params)
    this.#inputCount(this).received = 0
    const sent = stripParamsFor(this.revision, method, withCallMeta(params, options.meta))
    const result = await this.connection.request(method, sent, this.#state.sentOptions(label, options))
    // Result types do not exist in this era.
    const { resultType, ...checked } = checkResultOf(this.#state, this.revision, method, label, result)
    return checked
  }

  /**
   * Asks the user to visit the URLs that an error requires. Resolves to true when they agreed to all of them, so that
   * the call can be sent again.
   */
  async #visitUrls(error: RpcError, label: string, options: CallOptions): Promise<boolean> {
    const { capabilities, answerInput } = this.#state
    if (error.code !== ErrorCode.UrlElicitationRequired) return false
    if (options.onInputRequest === undefined && capabilities.elicitation?.url === undefined) return false
    const urls = readUrls(error)
    if (urls.length === 0) return false
    return withSignal(label, options.signal, async (signal) => {
      const origin: InputRequestOrigin = { server: this.server.info, signal }
      for (const params of urls) {
        const request: InputRequest = { method: 'elicitation/create', params }
        const { action } = (await (options.onInputRequest ?? answerInput)(request, origin)) as ElicitResult
        if (action !== 'accept') return false
      }
      return true
    })
  }

  listen(filter: SubscriptionFilter, listener: ChangeListener): Promise<Side> {
    return this.subscriptions.listen(filter, this.server.capabilities, listener)
  }

  async discover(): Promise<ServerFacts> {
    return this.server
  }

  async setLogLevel(level: LoggingLevel, options: CallOptions): Promise<void> {
    await this.#send('logging/setLevel', { level }, options)
    this.#state.logLevel = level
  }

  async ping(options: CallOptions): Promise<void> {
    await this.#send('ping', {}, options)
  }

  async notifyRootsChanged(): Promise<void> {
    await this.connection.notify('notifications/roots/list_changed')
  }

  handle(notification: NotificationMessage): void {
    const change = changeOf(notification)
    if (change === undefined) this.#state.handle(notification)
    else {
      this.subscriptions.handle(change)
      this.#passUndeclared(change, notification.method)
    }
  }

  /**
   * Passes a list change to `onChange` if the server did not declare the capability. No stream of changes contains such
   * a change.
   */
  #passUndeclared(change: Change, method: string): void {
    if (change.kind === 'resource' || this.server.capabilities[change.kind]?.listChanged === true) return
    const { onChange } = this.#state.options
    this.#state.tolerate(
      'change',
      `The server sent ${method}, but did not declare the capability ${change.kind}.listChanged`,
    )
    guarded(onChange, this.#state.onWarning)(change)
  }

  /** Answers a request of the server. */
  async answer({ method, params = {} }: RequestMessage, exchange: Exchange): Promise<object> {
    if (method === 'ping') return {}
    if (!this.isReady || !isInputMethod(method)) throw methodNotFound(method)
    this.#checkInput(method, params)
    return withRelatedTask(params, await this.#answerInput({ method, params } as InputRequest, exchange))
  }

  /**
   * Reports input requests that violate the revision. Some servers send elicitations in a revision that has none, or
   * URL elicitations without an id.
   */
  #checkInput(method: InputRequest['method'], params: JsonObject): void {
    const schema = serverRequestParams(this.revision, method)
    const problem = schema && check(schema, params, 'params').problem
    if (schema !== undefined && problem === undefined) return
    const isUsable =
      method === 'elicitation/create' && check(ElicitRequestParams, params, 'params').problem === undefined
    if (!isUsable || this.#state.capabilities.elicitation === undefined) {
      throw problem === undefined ? methodNotFound(method) : invalidParams(problem)
    }
    const deviation =
      problem === undefined
        ? `revision ${this.revision} does not have it`
        : `the request does not conform to revision ${this.revision}: ${problem}`
    this.#state.tolerate(method, `${method} was answered although ${deviation}`)
  }

  /** Pauses the timeouts of the calls that the request may belong to, while the user responds. */
  async #answerInput(request: InputRequest, exchange: Exchange): Promise<object> {
    const { method } = request
    const { turns, answerInput } = this.#state
    const onInputRequest = (exchange.during as SentOptions | undefined)?.onInputRequest
    const limit = this.#inputLimit(exchange, method)
    const release = exchange.hold?.()
    try {
      // If the server has cancelled, a callback that does not return must not count toward the limit.
      return await limit.run(() =>
        withSignal(method, exchange.signal, async (signal) => {
          signal.throwIfAborted()
          const origin: InputRequestOrigin = { server: this.server.info, signal }
          return onInputRequest?.(request, origin) ?? turns.answer(request, origin) ?? answerInput(request, origin)
        }),
      )
    } catch (error) {
      // The server has cancelled the request: the response is dropped, and there is no problem to report.
      if (exchange.signal.aborted) throw userRejected('The input request was cancelled')
      if (!(error instanceof InvalidAnswer)) throw error
      this.#state.onWarning(error)
      throw new RpcError(ErrorCode.InternalError, error.message)
    } finally {
      release?.()
    }
  }

  /**
   * Returns the limit of the call on whose stream a request arrived, otherwise of the connection. Throws if the limit
   * is reached.
   */
  #inputLimit(exchange: Exchange, method: string): ConcurrencyLimit {
    const { maxInputRequests = MAX_INPUT_REQUESTS, maxRounds = MAX_ROUNDS } = this.#state.options
    const count = this.#inputCount(exchange.during ?? this)
    if (count.limit.size >= maxInputRequests) {
      throw this.#inputLimitError(method, `${maxInputRequests} input requests are waiting for a response already`)
    }
    if (count.received >= maxInputRequests * maxRounds) {
      throw this.#inputLimitError(method, `the server has already sent ${count.received} input requests`)
    }
    count.received += 1
    return count.limit
  }

  #inputCount(call: object): InputCount {
    const count = this.#inputCounts.get(call) ?? { limit: new ConcurrencyLimit(MAX_CONCURRENT_INPUT), received: 0 }
    this.#inputCounts.set(call, count)
    return count
  }

  #inputLimitError(method: string, reason: string): RpcError {
    const message = `${method} was refused: ${reason}`
    const hint = 'Pass a larger maxInputRequests to connect if the server needs that many input requests.'
    this.#state.onWarning(new ConnectionError('limit', message, { hint }))
    return internalError(message)
  }
}

/** Returns the URLs of an error, without malformed ones. */
function readUrls({ data }: RpcError): ElicitRequestURLParams[] {
  const elicitations = (data as JsonObject | undefined)?.elicitations
  if (!Array.isArray(elicitations)) return []
  return elicitations.filter((each) => each?.mode === 'url' && check(ElicitRequestParams, each).problem === undefined)
}

function isInputMethod(method: string): method is InputRequest['method'] {
  return method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list'
}

async function shakeHands(
  state: ClientState,
  connection: Connection,
  offer: Revision | undefined,
  options: FirstRequestOptions,
): Promise<Handshake> {
  try {
    return readHandshake(state, await initialize(state, connection, offer ?? LATEST_LEGACY_REVISION, options), offer)
  } catch (error) {
    // Some servers refuse the proposed revision and list the revisions that they accept.
    const supported = error instanceof RpcError ? (error.data as JsonObject | undefined)?.supported : undefined
    const other = offer === undefined ? newestRevision(supported, 'legacy') : undefined
    if (other === undefined) throw error
    return readHandshake(state, await initialize(state, connection, other, options), offer)
  }
}

function initialize(
  { capabilities, clientInfo, extensions }: ClientState,
  connection: Connection,
  protocolVersion: Revision,
  options: FirstRequestOptions,
): Promise<unknown> {
  const own = hasCapability(protocolVersion, 'client', 'extensions')
    ? extensions.declare('legacy', capabilities)
    : capabilities
  const declared = own.roots === undefined ? own : { ...own, roots: { listChanged: true } }
  const params = { protocolVersion, capabilities: declared, clientInfo }
  return connection.request('initialize', params, { ...options, announceCancel: false })
}

function readHandshake(state: ClientState, result: unknown, offer: Revision | undefined): Handshake {
  const checked = checkResult(clientRequestResult(LATEST_LEGACY_REVISION, 'initialize'), 'initialize', result)
  const { protocolVersion, serverInfo, capabilities, instructions } = checked as unknown as InitializeResult
  const server = { info: serverInfo, capabilities, instructions }
  const isKnown = isRevision(protocolVersion) && eraOf(protocolVersion) === 'legacy'
  if (isKnown && (offer === undefined || protocolVersion === offer)) return { revision: protocolVersion, server }
  const revision = offer === undefined && !isKnown ? nearestRevision(protocolVersion) : undefined
  if (revision === undefined) {
    const hint = `This client supports ${offer ?? revisionsOf('legacy').join(', ')}.`
    const message = `The server selected unsupported protocol version ${quoted(protocolVersion)}`
    throw new ConnectionError('unsupported', message, { hint })
  }
  const warning = `The server selected the unknown protocol version ${quoted(protocolVersion)}: ${revision} is used instead`
  state.tolerate('revision', warning, 'unsupported')
  return { revision, server }
}

/** The first published draft of the protocol. */
const FIRST_DRAFT = '2024-10-07'

/**
 * Returns the revision to use for a draft: the newest revision before the draft, otherwise the oldest revision. Returns
 * undefined if the version is not a draft.
 */
function nearestRevision(selected: string): Revision | undefined {
  const isDraft = /^\d{4}-\d\d-\d\d$/.test(selected) && selected >= FIRST_DRAFT && selected < LATEST_LEGACY_REVISION
  const legacy = revisionsOf('legacy')
  return isDraft ? (legacy.findLast((revision) => revision < selected) ?? legacy[0]) : undefined
}
