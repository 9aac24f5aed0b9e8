/** `subscriptions/listen`: a stream of the changes that a client asked for, until either side has enough. */

import {
  type Awaitable,
  type Change,
  errorMessage,
  internalError,
  invalidParams,
  type JsonObject,
  type ResponseMessage,
  RpcError,
  resultMessage,
  type ServerCapabilities,
  type SubscriptionFilter,
  withSubscriptionId,
} from '@mcpx/protocol'
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
  streams.set(core, open + 1)
  return stream(call, honoured(wanted, core.capabilities)).finally(() => {
    streams.set(core, (streams.get(core) ?? 1) - 1)
  })
}

async function stream(call: ModernCall, wanted: SubscriptionFilter): Promise<ResponseMessage | undefined> {
  const { core, exchange, message } = call
  const watched = await watch(call, wanted.resourceSubscriptions ?? [])
  const filter =
    wanted.resourceSubscriptions === undefined ? wanted : { ...wanted, resourceSubscriptions: watched.uris }
  const { id } = message
  const tell = (method: string, params?: JsonObject) => exchange.notify(method, withSubscriptionId(params, id))
  const { signal } = exchange
  const stop = core.onChange((change) => {
    const { method, params } = toldOf(change)
    if (isWanted(change, filter)) void tell(method, params)
  })
  try {
    await tell('notifications/subscriptions/acknowledged', { notifications: filter })
    await firstOf(signal, core.closing, exchange.closing)
  } finally {
    stop()
    await watched.leave()
  }
  if (signal.aborted) return undefined
  return resultMessage(id, sealResult(call, withSubscriptionId({}, id)))
}

/**
 * Tells the handler who watches what, by the requests that sessions have for it; what is refused, such as to those who
 * may not see it, is not watched.
 */
async function watch(call: ModernCall, wanted: readonly string[]): Promise<{ uris: string[]; leave(): Promise<void> }> {
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

function isWanted(change: Change, filter: SubscriptionFilter): boolean {
  return change.kind === 'resource'
    ? filter.resourceSubscriptions?.includes(change.uri) === true
    : filter[`${change.kind}ListChanged`] === true
}

/** Resolves when one of the signals has fired; listens to none afterwards. */
async function firstOf(...signals: (AbortSignal | undefined)[]): Promise<void> {
  let onAbort = (): void => {}
  await new Promise<void>((resolve) => {
    onAbort = resolve
    for (const signal of signals) {
      if (signal?.aborted) resolve()
      else signal?.addEventListener('abort', onAbort)
    }
  })
  for (const signal of signals) signal?.removeEventListener('abort', onAbort)
}
