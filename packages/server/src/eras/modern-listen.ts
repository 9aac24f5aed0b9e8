/** `subscriptions/listen`: a stream of the changes that a client asked for, until either side has enough. */

import {
  type Awaitable,
  type Change,
  type Exchange,
  errorMessage,
  internalError,
  invalidParams,
  isPromise,
  type JsonObject,
  type MethodEntry,
  type RequestId,
  type ResponseMessage,
  RpcError,
  resultMessage,
  type ServerCapabilities,
  type SubscriptionFilter,
  withSubscriptionId,
} from '@mcpx/protocol'
import { type Listener, resume } from '../audience.ts'
import { LISTED } from '../capabilities.ts'
import { RequestContext } from '../context.ts'
import { toldOf } from './change-notifications.ts'
import type { ModernCall, ModernCore } from './modern-call.ts'
import { ModernFacts } from './modern-facts.ts'
import { sealResult } from './modern-seal.ts'

export function listen(call: ModernCall): Awaitable<ResponseMessage | undefined> {
  const { core, message, params } = call
  const wanted = params.notifications as SubscriptionFilter
  const { audience, limits } = core
  const { listens, subscriptions } = limits
  if ((wanted.resourceSubscriptions?.length ?? 0) > subscriptions) {
    return errorMessage(
      message.id,
      invalidParams(`params.notifications.resourceSubscriptions: at most ${subscriptions}`),
    )
  }
  if (audience.streams >= listens)
    return errorMessage(message.id, internalError(`Too many subscriptions: at most ${listens}`))
  const listening = new Listening(call, honoured(wanted, core.capabilities))
  // Thrown before it counts: who cannot listen holds no place.
  audience.join(listening)
  audience.streams++
  return new Promise((answer) => listening.open(call, answer))
}

type Answer = (answer: Awaitable<ResponseMessage | undefined>) => void

/** An open stream: what it keeps of its request is what it needs until its end. */
class Listening implements Listener {
  /** Nothing comes before the acknowledgement. */
  isBusy = true
  waiting: Listener['waiting']
  readonly #core: ModernCore
  readonly #exchange: Exchange
  readonly #id: RequestId
  readonly #entry: MethodEntry
  #filter: SubscriptionFilter
  #watched: Watched | undefined
  #answer: Answer | undefined

  constructor({ core, entry, exchange, message }: ModernCall, filter: SubscriptionFilter) {
    this.#core = core
    this.#exchange = exchange
    this.#id = message.id
    this.#entry = entry
    this.#filter = filter
  }

  wants(change: Change): boolean {
    return change.kind === 'resource'
      ? this.#filter.resourceSubscriptions?.includes(change.uri) === true
      : this.#filter[`${change.kind}ListChanged`] === true
  }

  tell(change: Change): Awaitable<void> {
    const { method, params } = toldOf(change)
    return this.#notify(method, params)
  }

  open(call: ModernCall, answer: Answer): void {
    this.#answer = answer
    const uris = this.#filter.resourceSubscriptions ?? []
    if (uris.length === 0) this.#acknowledge()
    else void this.#watch(call, uris)
  }

  end(): void {
    this.#over(true)
  }

  async #watch(call: ModernCall, wanted: readonly string[]): Promise<void> {
    const watched = createWatched(call)
    this.#watched = watched
    // The handler may take its time, and is not to hold the place of a client that has gone.
    this.#untilOver()
    for (const uri of new Set(wanted)) if (this.#answer !== undefined) await watched.add(uri)
    // What came about after the end is left here.
    if (this.#answer === undefined) return watched.leave()
    this.#filter = { ...this.#filter, resourceSubscriptions: watched.uris }
    this.#acknowledge()
  }

  #acknowledge(): void {
    const told = this.#notify('notifications/subscriptions/acknowledged', { notifications: this.#filter })
    // The first thing said opens the stream, by which its end is noticed with the least ado.
    if (this.#watched === undefined) this.#untilOver()
    if (isPromise(told)) void told.then(() => resume(this))
    else resume(this)
  }

  #untilOver(): void {
    const exchange = this.#exchange
    if (exchange.onClose !== undefined) exchange.onClose(this.#over.bind(this))
    else if (exchange.signal.aborted) this.#over(false)
    else exchange.signal.addEventListener('abort', () => this.#over(false), { once: true })
  }

  #notify(method: string, params: JsonObject | undefined): Awaitable<void> {
    return this.#exchange.notify(method, withSubscriptionId(params, this.#id))
  }

  #over(isHeard: boolean): void {
    const answer = this.#answer
    if (answer === undefined) return
    this.#answer = undefined
    const core = this.#core
    const { audience } = core
    audience.leave(this)
    audience.streams--
    const call = { core, entry: this.#entry, message: { method: 'subscriptions/listen' } }
    const last = isHeard
      ? resultMessage(this.#id, sealResult(call, withSubscriptionId(undefined, this.#id)))
      : undefined
    answer(this.#watched === undefined ? last : this.#watched.leave().then(() => last))
  }
}

interface Watched {
  /** What is watched so far. */
  readonly uris: string[]
  /** What is refused, such as to those who may not see it, is not watched. */
  add(uri: string): Promise<void>
  leave(): Promise<void>
}

/** Tells the handler who watches what, by the requests that sessions have for it. */
function createWatched(call: ModernCall): Watched {
  const { core, exchange, params } = call
  const ctx = new RequestContext(params, exchange, new ModernFacts(call, undefined))
  let uris: string[] = []
  const ask = async (verb: 'subscribe' | 'unsubscribe', uri: string) => {
    try {
      await core.run({ method: `resources/${verb}`, params: { uri } }, ctx)
      if (verb === 'subscribe') uris.push(uri)
    } catch (error) {
      if (verb === 'unsubscribe' || !(error instanceof RpcError)) core.faults.report(error, ctx)
    }
  }
  return {
    get uris() {
      return uris
    },
    add: (uri) => ask('subscribe', uri),
    async leave() {
      const left = uris
      uris = []
      for (const uri of left) await ask('unsubscribe', uri)
    },
  }
}

/** What of the filter the server can keep. */
function honoured(wanted: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter {
  const filter: SubscriptionFilter = {}
  for (const kind of LISTED) {
    if (wanted[`${kind}ListChanged`] === true && capabilities[kind]?.listChanged) filter[`${kind}ListChanged`] = true
  }
  if (wanted.resourceSubscriptions !== undefined && capabilities.resources?.subscribe) {
    filter.resourceSubscriptions = wanted.resourceSubscriptions
  }
  return filter
}
