/** Handles `subscriptions/listen`: sends the changes that a modern client requested. */

import {
  type Change,
  type Exchange,
  errorMessage,
  internalError,
  invalidParams,
  type JsonObject,
  quoted,
  type RequestId,
  type ResponseMessage,
  RpcError,
  resultMessage,
  type ServerCapabilities,
  type SubscriptionFilter,
  withSubscriptionId,
} from '@mcpx/protocol'
import { type ChangeReceiver, changeNotification } from './changes.ts'
import { RequestContext } from './context.ts'
import { LIST_KINDS } from './dispatch.ts'
import type { ServerInternals } from './era.ts'
import type { ExtensionSubscription, OpenedSubscription, Subscriber } from './extension.ts'
import { checkValue, missingDeclaration, type Owned } from './extensions.ts'
import { createClientAccess, finishResult, type ModernCall, toModernError } from './modern-call.ts'

/** Opens a stream. Resolves with its response when the server closes it, or with undefined when the client closes it. */
export async function openSubscription(call: ModernCall): Promise<ResponseMessage | undefined> {
  const { server, message, params, exchange } = call
  const wanted = params.notifications as SubscriptionFilter
  const { subscriptions } = server.limits
  if ((wanted.resourceSubscriptions?.length ?? 0) > subscriptions) {
    const problem = `params.notifications.resourceSubscriptions: at most ${subscriptions}`
    return errorMessage(message.id, invalidParams(problem))
  }
  const { listens } = server
  const exceeded = listens.acquire(exchange.caller)
  if (exceeded !== undefined) {
    const most =
      exceeded === 'total'
        ? `at most ${listens.total} (limits.listens)`
        : `at most ${listens.perCaller} of one caller (limits.perCaller of limits.listens)`
    return errorMessage(message.id, internalError(`Too many subscriptions: ${most}`))
  }
  const subscription = new Subscription(call, supportedFilter(wanted, server.capabilitiesIn('modern')))
  try {
    const refusal = await subscription.openSources(call)
    if (refusal === undefined) {
      server.changes.add(subscription)
      await server.changes.connect()
      // Do not await here: a waiting function would keep the whole call in memory while the stream is open.
      return subscription.open(call)
    }
    listens.release(exchange.caller)
    return errorMessage(message.id, refusal)
  } catch (error) {
    server.changes.remove(subscription)
    listens.release(exchange.caller)
    void subscription.closeSources()
    throw error
  }
}

/** Returns the part of the filter that the server supports. */
function supportedFilter(wanted: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter {
  const filter: SubscriptionFilter = {}
  for (const kind of LIST_KINDS) {
    if (wanted[`${kind}ListChanged`] === true && capabilities[kind]?.listChanged) filter[`${kind}ListChanged`] = true
  }
  if (wanted.resourceSubscriptions !== undefined && capabilities.resources?.subscribe) {
    filter.resourceSubscriptions = wanted.resourceSubscriptions
  }
  return filter
}

type Resolve = (response: ResponseMessage | undefined | Promise<ResponseMessage | undefined>) => void

/** An open stream. To save memory, it keeps only the parts of its request that it still uses. */
class Subscription implements ChangeReceiver {
  /** Whether changes must wait. Initially true, because the acknowledgement must be the first message. */
  isBusy = true
  waiting: ChangeReceiver['waiting']
  readonly #server: ServerInternals
  readonly #exchange: Exchange
  readonly #id: RequestId
  #filter: SubscriptionFilter
  #resources: ResourceSubscriptions | undefined
  #sources: ExtensionSources | undefined
  /** Resolves the promise of the request. Undefined after the end of the stream. */
  #resolve: Resolve | undefined

  constructor({ server, exchange, message }: ModernCall, filter: SubscriptionFilter) {
    this.#server = server
    this.#exchange = exchange
    this.#id = message.id
    this.#filter = filter
  }

  wants(change: Change): boolean {
    return change.kind === 'resource'
      ? this.#filter.resourceSubscriptions?.includes(change.uri) === true
      : this.#filter[`${change.kind}ListChanged`] === true
  }

  get uris(): readonly string[] {
    return this.#filter.resourceSubscriptions ?? []
  }

  async send(change: Change): Promise<void> {
    const { method, params } = changeNotification(change)
    await this.#notify(method, params)
  }

  end(): void {
    this.#onEnd(true)
  }

  /** Opens the sources of extensions. Returns an error if a source refuses the request. */
  async openSources(call: ModernCall): Promise<RpcError | undefined> {
    const { server, params, message } = call
    const wanted = (params.notifications ?? {}) as JsonObject
    const members = [...(server.extensions?.subscriptions ?? [])].filter(([name]) => Object.hasOwn(wanted, name))
    if (members.length === 0) return undefined
    const sources = new ExtensionSources(call, (method, notified) => this.#notify(method, notified))
    this.#sources = sources
    try {
      for (const [name, member] of members) await sources.add(name, member, wanted[name])
      this.#filter = { ...this.#filter, ...sources.acknowledged }
      return undefined
    } catch (error) {
      await sources.closeAll()
      const request = { method: message.method, params }
      return toModernError(server.faults.toRpcError(error, sources.ctx, request), server)
    }
  }

  async closeSources(): Promise<void> {
    await this.#sources?.closeAll()
  }

  /** Begins to send. Resolves with the response when the stream ends. */
  open(call: ModernCall): Promise<ResponseMessage | undefined> {
    const ended = new Promise<ResponseMessage | undefined>((resolve) => {
      this.#resolve = resolve
    })
    const uris = this.#filter.resourceSubscriptions ?? []
    if (uris.length > 0) void this.#subscribe(call, uris)
    else this.#acknowledge()
    return ended
  }

  async #subscribe(call: ModernCall, uris: readonly string[]): Promise<void> {
    const resources = new ResourceSubscriptions(call)
    this.#resources = resources
    // Listen before the handler is called. The handler may be slow, and a disconnected client must not count as an open
    // stream.
    this.#listenForEnd()
    for (const uri of new Set(uris)) {
      if (this.#resolve !== undefined) await resources.add(uri)
    }
    // The stream ended while the handler subscribed. `#onEnd` may have missed the last subscription.
    if (this.#resolve === undefined) return resources.removeAll()
    this.#filter = { ...this.#filter, resourceSubscriptions: resources.uris }
    this.#acknowledge()
  }

  #acknowledge(): void {
    const sent = this.#notify('notifications/subscriptions/acknowledged', { notifications: this.#filter })
    // Listen after the first notification, because listening is cheaper once the stream is open.
    if (this.#resources === undefined) this.#listenForEnd()
    void sent.then(() => {
      this.#sources?.start()
      this.#server.changes.resume(this)
    })
  }

  #listenForEnd(): void {
    const exchange = this.#exchange
    if (exchange.onClose !== undefined) exchange.onClose((graceful) => this.#onEnd(graceful))
    else if (exchange.signal.aborted) this.#onEnd(false)
    else exchange.signal.addEventListener('abort', () => this.#onEnd(false), { once: true })
  }

  async #notify(method: string, params: JsonObject | undefined): Promise<void> {
    await this.#exchange.notify(method, withSubscriptionId(params, this.#id))
  }

  #onEnd(graceful: boolean): void {
    const resolve = this.#resolve
    if (resolve === undefined) return
    this.#resolve = undefined
    const { changes, listens } = this.#server
    changes.remove(this)
    listens.release(this.#exchange.caller)
    void this.closeSources()
    const response = graceful ? this.#createResponse() : undefined
    resolve(this.#resources === undefined ? response : this.#resources.removeAll().then(() => response))
  }

  #createResponse(): ResponseMessage {
    const call = { server: this.#server, entry: {}, message: { method: 'subscriptions/listen' } }
    return resultMessage(this.#id, finishResult(call, withSubscriptionId(undefined, this.#id)))
  }
}

/** Subscribes the handler to the resources of one stream, with the same requests that legacy clients send. */
class ResourceSubscriptions {
  readonly #call: ModernCall
  readonly #ctx: RequestContext
  uris: string[] = []

  constructor(call: ModernCall) {
    this.#call = call
    this.#ctx = new RequestContext(call.params, call.exchange, createClientAccess(call))
  }

  /** Subscribes to a resource. If the handler refuses it, for example to hide it from the caller, the URI is left out. */
  async add(uri: string): Promise<void> {
    if (await this.#run('resources/subscribe', uri, (error) => !(error instanceof RpcError))) this.uris.push(uri)
  }

  async removeAll(): Promise<void> {
    const { uris } = this
    this.uris = []
    for (const uri of uris) await this.#run('resources/unsubscribe', uri, () => true)
  }

  /** Runs a request. Returns whether the handler accepted it. */
  async #run(method: string, uri: string, isFault: (error: unknown) => boolean): Promise<boolean> {
    const { server } = this.#call
    const request = { method, params: { uri } }
    try {
      await server.run(request, this.#ctx)
      return true
    } catch (error) {
      if (isFault(error)) server.faults.report(error, this.#ctx, request)
      return false
    }
  }
}

/** The notifications of extensions for one stream. */
class ExtensionSources {
  readonly ctx: RequestContext
  /** The members of the filter that are acknowledged. */
  readonly acknowledged: Record<string, unknown> = {}
  readonly #call: ModernCall
  readonly #send: (method: string, params: JsonObject) => Promise<void>
  readonly #opened: OpenedSubscription[] = []
  readonly #started: Promise<void>
  #hasEnded = false
  /** Called after the acknowledgement, which must be the first message. */
  start: () => void = () => {}

  constructor(call: ModernCall, send: (method: string, params: JsonObject) => Promise<void>) {
    this.#call = call
    this.#send = send
    this.ctx = new RequestContext(call.params, call.exchange, createClientAccess(call))
    this.#started = new Promise((resolve) => {
      this.start = resolve
    })
  }

  /** Opens the source of one member of the filter. Throws an `RpcError` for an invalid value. */
  async add(name: string, member: Owned<ExtensionSubscription>, wanted: unknown): Promise<void> {
    const missing = missingDeclaration(member, this.#call.envelope.clientCapabilities)
    if (missing !== undefined) throw missing
    const value = await checkValue(member.value, wanted, `params.notifications.${name}`)
    const notify: Subscriber['notify'] = (method, params) => this.#notify(member.extension, method, params)
    const opened = await member.open(value as never, { ctx: this.ctx, notify })
    if (opened === undefined) return
    this.#opened.push(opened)
    this.acknowledged[name] = opened.acknowledged
  }

  async closeAll(): Promise<void> {
    this.#hasEnded = true
    this.start()
    for (const opened of this.#opened.splice(0)) {
      try {
        await opened.close()
      } catch (error) {
        this.#call.server.faults.report(error, this.ctx)
      }
    }
  }

  async #notify(extension: string, method: string, params: JsonObject): Promise<void> {
    if (this.#call.server.extensions?.notifications.get(method) !== extension) {
      throw new Error(`The extension ${extension} sent ${quoted(method)}; list it in its \`notifications\``)
    }
    await this.#started
    if (!this.#hasEnded) await this.#send(method, params)
  }
}
