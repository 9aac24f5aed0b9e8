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
import { RequestContext } from '../context.ts'
import type { Core } from '../core.ts'
import { toldOf } from './change-notifications.ts'
import type { ModernCall } from './modern-call.ts'
import { ModernFacts } from './modern-facts.ts'
import { sealResult } from './modern-seal.ts'

/** How many streams each server has open. */
const streams = new WeakMap<Core, number>()

export function listen(call: ModernCall): Awaitable<ResponseMessage | undefined> {
  const { core, message, params } = call
  const wanted = params.notifications as SubscriptionFilter
  const open = streams.get(core) ?? 0
  const { listens, subscriptions } = core.limits
  if ((wanted.resourceSubscriptions?.length ?? 0) > subscriptions) {
    return errorMessage(
      message.id,
      invalidParams(`params.notifications.resourceSubscriptions: at most ${subscriptions}`),
    )
  }
  if (open >= listens) return errorMessage(message.id, internalError(`Too many subscriptions: at most ${listens}`))
  const listening = new Listening(call, honoured(wanted, core.capabilities))
  // Thrown before it counts: who cannot listen holds no place.
  core.audience.join(listening)
  streams.set(core, open + 1)
  return new Promise((answer) => listening.open(call, answer))
}

type Answer = (answer: Awaitable<ResponseMessage | undefined>) => void

/** An open stream: what it keeps of its request is what it needs until its end. */
class Listening implements Listener {
  /** Nothing comes before the acknowledgement. */
  isBusy = true
  waiting: Listener['waiting']
  readonly #core: Core
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
    this.#watched = await watch(call, wanted)
    this.#filter = { ...this.#filter, resourceSubscriptions: this.#watched.uris }
    // The server may have been closed in between.
    if (this.#answer === undefined) await this.#watched.leave()
    else this.#acknowledge()
  }

  #acknowledge(): void {
    const told = this.#notify('notifications/subscriptions/acknowledged', { notifications: this.#filter })
    const over = this.#over.bind(this)
    // The first thing said opens the stream, by which its end is noticed with the least ado.
    if (this.#exchange.onOver !== undefined) this.#exchange.onOver(over)
    else onAbort(this.#exchange.signal, () => over(false))
    if (isPromise(told)) void told.then(() => resume(this))
    else resume(this)
  }

  #notify(method: string, params: JsonObject | undefined): Awaitable<void> {
    return this.#exchange.notify(method, withSubscriptionId(params, this.#id))
  }

  #over(isHeard: boolean): void {
    const answer = this.#answer
    if (answer === undefined) return
    this.#answer = undefined
    const core = this.#core
    core.audience.leave(this)
    streams.set(core, (streams.get(core) ?? 1) - 1)
    const last = isHeard ? this.#result() : undefined
    answer(this.#watched === undefined ? last : this.#watched.leave().then(() => last))
  }

  #result(): ResponseMessage {
    const call = { core: this.#core, entry: this.#entry, message: { method: 'subscriptions/listen' } }
    return resultMessage(this.#id, sealResult(call, withSubscriptionId({}, this.#id)))
  }
}

function onAbort(signal: AbortSignal, listener: () => void): void {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
}

interface Watched {
  readonly uris: string[]
  leave(): Promise<void>
}

/**
 * Tells the handler who watches what, by the requests that sessions have for it; what is refused, such as to those who
 * may not see it, is not watched.
 */
async function watch(call: ModernCall, wanted: readonly string[]): Promise<Watched> {
  const { core, exchange, params } = call
  const { faults } = core
  const ctx = new RequestContext(params, exchange, new ModernFacts(call, undefined))
  const uris: string[] = []
  for (const uri of new Set(wanted)) {
    try {
      await core.run({ method: 'resources/subscribe', params: { uri } }, ctx)
      uris.push(uri)
    } catch (error) {
      if (!(error instanceof RpcError)) faults.report(error, ctx)
    }
  }
  return {
    uris,
    async leave() {
      for (const uri of uris) {
        try {
          await core.run({ method: 'resources/unsubscribe', params: { uri } }, ctx)
        } catch (error) {
          faults.report(error, ctx)
        }
      }
    },
  }
}

/** What of the filter the server can keep. */
function honoured(wanted: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter {
  const filter: SubscriptionFilter = {}
  for (const kind of ['tools', 'prompts', 'resources'] as const) {
    if (wanted[`${kind}ListChanged`] === true && capabilities[kind]?.listChanged) filter[`${kind}ListChanged`] = true
  }
  if (wanted.resourceSubscriptions !== undefined && capabilities.resources?.subscribe) {
    filter.resourceSubscriptions = wanted.resourceSubscriptions
  }
  return filter
}
