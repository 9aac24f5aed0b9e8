/** Requests that change what a session wants to hear. */

import {
  type Awaitable,
  type Context,
  invalidRequest,
  type JsonObject,
  methodNotFound,
  type SessionState,
} from '@mcpx/protocol'
import type { Core } from '../core.ts'
import type { LegacyFacts } from './legacy-facts.ts'

interface SessionCall {
  readonly params: JsonObject
  readonly ctx: Context
  readonly facts: Pick<LegacyFacts, 'session' | 'core'>
}

type SessionMethod = (call: SessionCall) => Awaitable<object>

/** The handler is asked first; where it agrees, the record of the session is changed. */
function changing(
  method: string,
  isThere: (core: Core) => boolean,
  change: (state: SessionState, params: JsonObject) => void,
): SessionMethod {
  return async ({ params, ctx, facts: { session, core } }) => {
    if (!isThere(core)) throw methodNotFound(method)
    await core.run({ method, params }, ctx)
    await session.update((state) => change(state, params))
    return {}
  }
}

const subscribe = /* @__PURE__ */ changing(
  'resources/subscribe',
  ({ handler }) => handler.subscribe !== undefined,
  (state, { uri }) => {
    state.subscriptions = [...new Set([...(state.subscriptions ?? []), uri as string])]
  },
)

const unsubscribe = /* @__PURE__ */ changing(
  'resources/unsubscribe',
  ({ handler }) => handler.unsubscribe !== undefined,
  (state, { uri }) => {
    state.subscriptions = (state.subscriptions ?? []).filter((each) => each !== uri)
  },
)

const setLevel = /* @__PURE__ */ changing(
  'logging/setLevel',
  ({ isLogging }) => isLogging,
  (state, { level }) => void Object.assign(state, { logLevel: level }),
)

/** A session that is to hear of one URI more may be full. */
const subscribeWithinLimits: SessionMethod = (call) => {
  const { session, core } = call.facts
  const { subscriptions = [] } = session.state
  const most = core.limits.subscriptions
  if (core.handler.subscribe === undefined || subscriptions.length < most) return subscribe(call)
  if (subscriptions.includes(call.params.uri as string)) return subscribe(call)
  throw invalidRequest(`Too many subscriptions: at most ${most} for a session; unsubscribe from some`)
}

export const sessionMethods: Readonly<Record<string, SessionMethod>> = {
  'logging/setLevel': setLevel,
  'resources/subscribe': subscribeWithinLimits,
  'resources/unsubscribe': unsubscribe,
}
