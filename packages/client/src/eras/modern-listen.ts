/** Hears of changes in the modern era: one long request, on whose stream the server tells what has changed. */

import {
  type Connection,
  ConnectionError,
  check,
  type JsonObject,
  type NotificationMessage,
  type ServerCapabilities,
  type SubscriptionFilter,
  SubscriptionsAcknowledgedNotificationParams,
} from '@mcpx/protocol'
import { LONGEST_TIMER } from '../cancellation.ts'
import { notConfirmed } from '../confirmation.ts'
import { type Core, changeOf } from '../core.ts'
import { allowedFilter, type ListenHooks, nothingToListenTo } from './era.ts'

export interface ListenWire {
  readonly core: Core
  readonly connection: Connection
  readonly capabilities: ServerCapabilities
  stamp(params: JsonObject): JsonObject
}

/** Resolves when the server has ended the subscription or the signal has fired; rejects when it broke. */
export async function listenModern(wire: ListenWire, filter: SubscriptionFilter, hooks: ListenHooks): Promise<void> {
  const { core, connection } = wire
  const notifications = allowedFilter(filter, wire.capabilities)
  if (Object.keys(notifications).length === 0) throw nothingToListenTo()
  const stop = new AbortController()
  const cancel = () => stop.abort(hooks.signal.reason)
  const { timeout } = hooks
  const timer = timeout > LONGEST_TIMER ? undefined : setTimeout(() => stop.abort(notConfirmed()), timeout)
  let endedByServer = false

  const onNotification = (notification: NotificationMessage) => {
    const { method, params } = notification
    if (method === 'notifications/subscriptions/acknowledged') {
      clearTimeout(timer)
      hooks.onReady(followedOf(core, filter, params))
    } else if (method === 'notifications/cancelled') {
      endedByServer = true
      stop.abort(new ConnectionError('cancelled', 'The server ended the subscription'))
    } else tellChange(core, notification, hooks)
  }

  hooks.signal.addEventListener('abort', cancel)
  if (hooks.signal.aborted) cancel()
  try {
    await connection.request('subscriptions/listen', wire.stamp({ notifications }), {
      signal: stop.signal,
      timeout: Number.POSITIVE_INFINITY,
      maxTimeout: Number.POSITIVE_INFINITY,
      onNotification,
    })
  } catch (error) {
    if (endedByServer || hooks.signal.aborted) return
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    clearTimeout(timer)
    hooks.signal.removeEventListener('abort', cancel)
  }
}

function tellChange(core: Core, notification: NotificationMessage, hooks: ListenHooks): void {
  const change = changeOf(notification)
  if (change === undefined) {
    core.hear(notification)
    return
  }
  hooks.onChange(change)
}

/** What the server says it follows; what it leaves out is reported. */
function followedOf(core: Core, asked: SubscriptionFilter, params: unknown): SubscriptionFilter {
  const { value, problem: unreadable } = check(SubscriptionsAcknowledgedNotificationParams, params, 'params')
  if (unreadable !== undefined) {
    core.report(
      new ConnectionError('invalid-message', `The confirmation of a subscription is unreadable. ${unreadable}`),
    )
    return {}
  }
  const followed = value.notifications
  const missing = Object.keys(asked).filter((name) => !(name in followed))
  const problem = missing.length === 0 ? undefined : `The server does not tell of ${missing.join(', ')}`
  // Once, for all streams of which that is so in a row.
  if (problem !== undefined && problem !== reported.get(core)) core.report(new ConnectionError('unsupported', problem))
  reported.set(core, problem)
  return followed
}

const reported = new WeakMap<Core, string | undefined>()
