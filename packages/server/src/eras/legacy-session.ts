/** Requests that change what a session wants to hear. */

import {
  type Awaitable,
  type Context,
  invalidRequest,
  type JsonObject,
  methodNotFound,
  type Session,
} from '@mcpx/protocol'
import type { Core } from '../core.ts'

interface SessionCall {
  readonly params: JsonObject
  readonly ctx: Context
  readonly session: Session
  readonly core: Core
}

export const sessionMethods: Readonly<Record<string, (call: SessionCall) => Awaitable<object>>> = {
  'logging/setLevel': setLevel,
  'resources/subscribe': subscribe,
  'resources/unsubscribe': unsubscribe,
}

async function setLevel({ params, ctx, session, core }: SessionCall): Promise<object> {
  if (!core.isLogging) throw methodNotFound('logging/setLevel')
  const { level } = params as { level: NonNullable<Session['state']['logLevel']> }
  await core.run({ method: 'logging/setLevel', params }, ctx)
  await session.update((state) => void Object.assign(state, { logLevel: level }))
  return {}
}

async function subscribe({ params, ctx, session, core }: SessionCall): Promise<object> {
  const { uri } = params as { uri: string }
  if (core.handler.subscribe === undefined) throw methodNotFound('resources/subscribe')
  const most = core.limits.subscriptions
  if ((session.state.subscriptions?.length ?? 0) >= most && !session.state.subscriptions?.includes(uri)) {
    throw invalidRequest(`Too many subscriptions: at most ${most} for a session; unsubscribe from some`)
  }
  await core.run({ method: 'resources/subscribe', params }, ctx)
  await session.update((state) => {
    state.subscriptions = [...new Set([...(state.subscriptions ?? []), uri])]
  })
  return {}
}

async function unsubscribe({ params, ctx, session, core }: SessionCall): Promise<object> {
  const { uri } = params as { uri: string }
  if (core.handler.unsubscribe === undefined) throw methodNotFound('resources/unsubscribe')
  await core.run({ method: 'resources/unsubscribe', params }, ctx)
  await session.update((state) => {
    state.subscriptions = (state.subscriptions ?? []).filter((each) => each !== uri)
  })
  return {}
}
