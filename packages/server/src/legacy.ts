/** Handles messages of the legacy era. The handshake opens a session, whose record stores the facts about the client. */

import {
  type Awaitable,
  type CallToolResult,
  type ClientCapabilities,
  type ClientFacts,
  ErrorCode,
  type Exchange,
  errorMessage,
  type Implementation,
  type InputRequiredResult,
  internalError,
  invalidParams,
  invalidRequest,
  type JsonObject,
  LATEST_LEGACY_REVISION,
  type LoggingLevel,
  methodNotFound,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
  type Revision,
  type RpcError,
  requestEntry,
  resourceNotFound,
  resultMessage,
  revisionsOf,
  type Session,
  type SessionState,
  stripFor,
  stripParamsFor,
} from '@mcpx/protocol'
import { type ChangeReceiver, changeNotification } from './changes.ts'
import { type ClientAccess, createInternalContext, DeclaredClient, RequestContext } from './context.ts'
import { paramsProblem, type ServerEra, type ServerInternals } from './era.ts'
import { failedResult } from './errors.ts'
import { missingDeclaration } from './extensions.ts'
import { LegacyAsker } from './legacy-questions.ts'
import type { OnUnsupported } from './questions.ts'
import { isInputRequired, toResult } from './results.ts'

/** The log level until the client sets one. */
const DEFAULT_LOG_LEVEL: LoggingLevel = 'info'

export const legacy: ServerEra = {
  async handle(message, exchange, server) {
    if ('id' in message) return await answer(message, exchange, server)
    const { session } = exchange
    const { revision, initialized } = session?.state ?? {}
    if (message.method === 'notifications/initialized' && revision !== undefined && initialized !== true) {
      await session?.update((state) => void Object.assign(state, { initialized: true }))
    }
    return undefined
  },
}

async function answer(message: RequestMessage, exchange: Exchange, server: ServerInternals): Promise<ResponseMessage> {
  const { id, method } = message
  const { session } = exchange
  if (session === undefined) return errorMessage(id, invalidRequest('There is no session: send "initialize" first'))
  if (method === 'initialize') return initialize(message, session, server)
  if (method === 'ping') return resultMessage(id, {})
  const { revision } = session.state
  if (revision === undefined) return errorMessage(id, invalidRequest('Not initialized: send "initialize" first'))
  const call: LegacyCall = { message, exchange, session, revision, server }
  const entry = requestEntry(revision, method)
  if (entry === undefined || entry.from === 'server') return answerExtension(call)
  const params = withoutModernParams(message.params)
  const problem = paramsProblem(revision, method, params)
  if (problem !== undefined) return errorMessage(id, invalidParams(problem))
  return await runUntilComplete(call, params)
}

/** Answers a request whose method is not in the tables of the protocol, so only an extension can have it. */
async function answerExtension(call: LegacyCall): Promise<ResponseMessage> {
  const { message, session, revision, server } = call
  const { id, method, params = {} } = message
  const found = server.extensions?.find(method, revision)
  if (found === undefined) return errorMessage(id, methodNotFound(method))
  const missing = missingDeclaration(found, session.state.clientCapabilities ?? {})
  if (missing !== undefined) return toErrorResponse(id, method, missing)
  return await runUntilComplete(call, found.mayAsk === true ? withoutModernParams(params) : params)
}

/**
 * Removes the modern members for answers and state. A legacy server never sends them, so the client has forged them.
 */
function withoutModernParams(params: JsonObject = {}): JsonObject {
  if (!('inputResponses' in params || 'requestState' in params)) return params
  const { inputResponses, requestState, ...others } = params
  return others
}

interface InitializeParams {
  readonly protocolVersion: string
  readonly capabilities: ClientCapabilities
  readonly clientInfo: Implementation
}

/**
 * The largest size of the client's name and capabilities, in characters of JSON. They are limited because sessions
 * store them before the caller is authenticated.
 */
const MAX_HANDSHAKE_LENGTH = 65_536

function sizeProblem({ capabilities, clientInfo }: InitializeParams): string | undefined {
  for (const [name, value] of Object.entries({ capabilities, clientInfo })) {
    const { length } = JSON.stringify(value)
    if (length <= MAX_HANDSHAKE_LENGTH) continue
    return `params.${name}: expected at most ${MAX_HANDSHAKE_LENGTH} characters of JSON, got ${length}`
  }
  return undefined
}

/** Handles the handshake: agrees on a revision, and stores the client's name and capabilities in the session. */
async function initialize(
  { id, method, params = {} }: RequestMessage,
  session: Session,
  server: ServerInternals,
): Promise<ResponseMessage> {
  const alreadyInitialized = () => invalidRequest('The session is already initialized: open a new one')
  if (session.state.revision !== undefined) return errorMessage(id, alreadyInitialized())
  const problem = paramsProblem(LATEST_LEGACY_REVISION, method, params)
  if (problem !== undefined) return errorMessage(id, invalidParams(problem))
  const requested = params as unknown as InitializeParams
  const tooLarge = sizeProblem(requested)
  if (tooLarge !== undefined) return errorMessage(id, invalidParams(tooLarge))
  // If the requested revision is not supported, offer the newest legacy revision. The client decides whether to
  // continue.
  const revision = revisionsOf('legacy').find((each) => each === requested.protocolVersion) ?? LATEST_LEGACY_REVISION
  // The client may declare capabilities that the agreed revision does not have.
  const { capabilities, clientInfo } = stripParamsFor(revision, method, requested)
  try {
    await session.update((state) => {
      // Another process may have initialized the session in the meantime.
      if (state.revision !== undefined) throw alreadyInitialized()
      Object.assign(state, { revision, clientInfo, clientCapabilities: capabilities, openedAt: Date.now() })
    })
    const { info, instructions } = server
    const result = { protocolVersion: revision, capabilities: server.capabilitiesIn('legacy'), serverInfo: info }
    const whole = instructions === undefined ? result : { ...result, instructions }
    return resultMessage(id, stripFor(revision, method, whole))
  } catch (error) {
    return errorMessage(id, server.faults.toRpcError(error, undefined, { method, params }))
  }
}

/** A request with valid parameters. */
export interface LegacyCall {
  readonly message: RequestMessage
  readonly exchange: Exchange
  readonly session: Session
  readonly revision: Revision
  readonly server: ServerInternals
}

/**
 * Runs the handler. If it returns `inputRequired()`, sends the questions and runs the handler again with the answers.
 * Questions and steps that the handler awaits are executed once over all runs; questions in `inputRequired()` may be
 * sent again.
 */
async function runUntilComplete(call: LegacyCall, params: JsonObject): Promise<ResponseMessage> {
  const { message, revision, exchange, server } = call
  const { id, method } = message
  const client = new LegacyClient(call)
  let request = { method, params }
  let ctx = new RequestContext(params, exchange, client)
  try {
    for (let round = 1; ; round++) {
      const result = toResult(request, await run(call, request, ctx))
      if (!isInputRequired(result)) {
        await client.finish()
        return resultMessage(id, stripFor(revision, method, result))
      }
      if (round >= server.limits.rounds) {
        throw internalError(`The call asked for input ${round} times and did not end`)
      }
      request = { method, params: { ...params, ...(await client.askByHand(result)) } }
      ctx = new RequestContext(request.params, exchange, client)
    }
  } catch (error) {
    return toErrorResponse(id, method, server.faults.toRpcError(error, ctx, request))
  }
}

/** The client of a call, as described in the session record. */
class LegacyClient implements ClientAccess {
  readonly #call: LegacyCall
  #asker: LegacyAsker | undefined
  /** The objects that have sent questions: the one of the context, and one for each result of `inputRequired()`. */
  #askers: LegacyAsker[] | undefined

  constructor(call: LegacyCall) {
    this.#call = call
  }

  get client(): ClientFacts {
    const { session, server } = this.#call
    const { clientInfo, clientCapabilities = {} } = session.state
    return new DeclaredClient(clientInfo, clientCapabilities, 'legacy', server.extensions)
  }

  get logLevel(): LoggingLevel | undefined {
    const { server, session } = this.#call
    return server.isLogging ? (session.state.logLevel ?? DEFAULT_LOG_LEVEL) : undefined
  }

  notify(method: string, params: JsonObject): Awaitable<void> {
    const { exchange, revision } = this.#call
    return exchange.notify(method, stripParamsFor(revision, method, params))
  }

  /** Returns the object that sends questions. It is the same in all runs of the call. */
  createAsker(): LegacyAsker {
    this.#asker ??= this.#addAsker(this.#call.server.onUnsupported)
    return this.#asker
  }

  /** Sends the questions of a result of `inputRequired()`. Returns the parameters that the next run receives. */
  async askByHand({ inputRequests = {}, requestState }: InputRequiredResult): Promise<JsonObject> {
    const questions = Object.entries(inputRequests).map(([key, request]) => [key, { request }] as const)
    const inputResponses = await this.#addAsker(undefined).ask(Object.fromEntries(questions), new Set())
    return { inputResponses, requestState }
  }

  /** Notifies the client that the visits of URLs are complete. Returns undefined if no question was sent. */
  finish(): Promise<unknown> | undefined {
    return this.#askers && Promise.all(this.#askers.map((asker) => asker.finish()))
  }

  #addAsker(onUnsupported: OnUnsupported | undefined): LegacyAsker {
    const asker = new LegacyAsker(this.#call, onUnsupported)
    this.#askers = [...(this.#askers ?? []), asker]
    return asker
  }
}

/** Runs the handler. If the handler succeeds and the request changes the session, also updates the session record. */
async function run(
  { session, server }: LegacyCall,
  request: { method: string; params: JsonObject },
  ctx: RequestContext,
): Promise<object> {
  const change = Object.hasOwn(sessionChanges, request.method) ? sessionChanges[request.method] : undefined
  if (change === undefined) return server.run(request, ctx)
  if (!change.isSupported(server)) throw methodNotFound(request.method)
  change.checkLimits?.(session.state, request.params, server)
  await server.run(request, ctx)
  try {
    await session.update((state) => {
      // Other requests of the session may have reached the limits in the meantime.
      change.checkLimits?.(state, request.params, server)
      change.apply(state, request.params)
    })
  } catch (error) {
    const isNew = !session.state.subscriptions?.includes(request.params.uri as string)
    if (isNew && request.method === 'resources/subscribe') {
      await server.run({ method: 'resources/unsubscribe', params: request.params }, ctx)
    }
    throw error
  }
  return {}
}

/**
 * The largest total length of the URIs of a session, in characters. It is limited because a session stores them, and each
 * further subscription copies them.
 */
const MAX_SUBSCRIPTIONS_LENGTH = 262_144

interface SessionChange {
  isSupported(server: ServerInternals): boolean
  checkLimits?(state: SessionState, params: JsonObject, server: ServerInternals): void
  apply(state: SessionState, params: JsonObject): void
}

const sessionChanges: Readonly<Record<string, SessionChange>> = {
  'logging/setLevel': {
    isSupported: ({ isLogging }) => isLogging,
    apply: (state, { level }) => void Object.assign(state, { logLevel: level }),
  },
  'resources/subscribe': {
    isSupported: ({ handler }) => handler.subscribe !== undefined,
    checkLimits({ subscriptions = [] }, { uri }, { limits }) {
      if (subscriptions.includes(uri as string)) return
      const remedy = 'for a session; unsubscribe from some'
      if (subscriptions.length >= limits.subscriptions) {
        throw invalidRequest(`Too many subscriptions: at most ${limits.subscriptions} ${remedy}`)
      }
      const length = subscriptions.reduce((sum, each) => sum + each.length, (uri as string).length)
      if (length <= MAX_SUBSCRIPTIONS_LENGTH) return
      throw invalidRequest(`Too many subscriptions: at most ${MAX_SUBSCRIPTIONS_LENGTH} characters of URIs ${remedy}`)
    },
    apply(state, { uri }) {
      state.subscriptions = [...new Set([...(state.subscriptions ?? []), uri as string])]
    },
  },
  'resources/unsubscribe': {
    isSupported: ({ handler }) => handler.unsubscribe !== undefined,
    apply(state, { uri }) {
      state.subscriptions = (state.subscriptions ?? []).filter((each) => each !== uri)
    },
  },
}

/** Methods with the URI of a resource. */
const RESOURCE_METHODS = ['resources/read', 'resources/subscribe', 'resources/unsubscribe']

/** Converts an error to a response of this era. Codes that only the modern era has are replaced. */
function toErrorResponse(id: RequestId, method: string, error: RpcError): ResponseMessage {
  if (error.code === ErrorCode.MissingRequiredClientCapability) {
    const { requiredCapabilities } = (error.data ?? {}) as { requiredCapabilities?: { extensions?: unknown } }
    const isQuestion = requiredCapabilities?.extensions === undefined
    const problem = isQuestion ? `The client cannot be asked. ${error.message}` : error.message
    if (method !== 'tools/call') return errorMessage(id, invalidRequest(problem))
    const result: CallToolResult = failedResult(problem)
    return resultMessage(id, result)
  }
  const uri = (error.data as { uri?: unknown } | undefined)?.uri
  const isMissingResource =
    RESOURCE_METHODS.includes(method) && error.code === ErrorCode.InvalidParams && typeof uri === 'string'
  return errorMessage(id, isMissingResource ? resourceNotFound(uri, 'legacy') : error)
}

/** Sends list changes and updates of subscribed resources to a session, until the returned function is called. */
export function watchChanges(
  session: Session,
  send: (message: NotificationMessage) => Awaitable<void>,
  { changes }: ServerInternals,
  hasGap = false,
): Awaitable<() => void> {
  const receiver: ChangeReceiver = {
    isBusy: false,
    waiting: undefined,
    get uris() {
      return session.state.subscriptions ?? []
    },
    wants: (change) => change.kind !== 'resource' || receiver.uris.includes(change.uri),
    send: (change) => send({ jsonrpc: '2.0', ...changeNotification(change) }),
  }
  const stop = () => changes.remove(receiver)
  changes.add(receiver)
  if (hasGap) queueMicrotask(() => changes.sendAll(receiver))
  const connected = changes.connect()
  if (connected === undefined) return stop
  return connected.then(
    () => stop,
    (error: unknown) => {
      stop()
      throw error
    },
  )
}

/** Unsubscribes an ended session from all its resources. */
export async function endSession(session: Session, server: ServerInternals): Promise<void> {
  const { handler, faults, closing } = server
  const { subscriptions = [] } = session.state
  if (subscriptions.length === 0) return
  const ctx = createInternalContext({ session }, closing)
  for (const uri of subscriptions) {
    try {
      await handler.unsubscribe?.({ uri }, ctx)
    } catch (error) {
      faults.report(error, ctx, { method: 'resources/unsubscribe', params: { uri } })
    }
  }
}
