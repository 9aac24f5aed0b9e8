/** The records of sessions: opened, found by the header that names them, changed, and ended. */

import {
  ASSUMED_REVISION,
  type AuthInfo,
  type Awaitable,
  ConnectionError,
  invalidRequest,
  isPromise,
  isRevision,
  principalOf,
  type RequestId,
  type SessionState,
  type SessionStore,
} from '@mcpx/protocol'
import { createMemorySessionStore } from '@mcpx/protocol/memory'
import { SESSION_HEADER, VERSION_HEADER } from '../../headers.ts'
import { refusal } from '../answers.ts'
import type { Host, Inbound } from '../host.ts'
import { HttpAnswer } from '../http-answer.ts'
import { LiveSession, LiveSessions } from './legacy-live.ts'
import { noSession } from './legacy-refusals.ts'
import { type UpdateSession, updateHere } from './legacy-session.ts'

export interface Records {
  /** Whether there are sessions at all. */
  readonly areKept: boolean
  readonly live: LiveSessions
  create(id: string, state: Readonly<SessionState>, auth: AuthInfo | undefined): Promise<void>
  /** The session that a request names, held until it is released; or why there is none, under the id of what was asked. */
  find(inbound: Inbound, asked?: RequestId): Awaitable<LiveSession | HttpAnswer>
  end(live: LiveSession): Promise<void>
  readonly update: UpdateSession
  readonly refresh: (live: LiveSession) => void
}

const DEFAULT_TTL = 30 * 60_000

export function createRecords(host: Host): Records {
  const { sessions } = host.options
  if (sessions === false) return createNoRecords(host)
  const store = sessions?.store ?? createMemorySessionStore()
  const ttl = sessions?.ttl ?? DEFAULT_TTL
  const live = new LiveSessions(sessions?.bus, host.report)
  return {
    areKept: true,
    live,
    async create(id, state, auth) {
      const bound = auth === undefined ? state : { ...state, subject: principalOf(auth) as string }
      await store.create(id, bound, ttl)
    },
    find({ request, auth }, asked) {
      const id = request.header(SESSION_HEADER)
      if (id === null) return refusal(400, invalidRequest('Mcp-Session-Id is missing: send "initialize" first'), asked)
      const changes = live.changesOf(id)
      const admit = (state: Readonly<SessionState> | undefined) =>
        // Whose session it is, is nobody else's business: a stranger is told the same as for a dead one.
        state === undefined || state.subject !== principalOf(auth) ? noSession(asked) : live.hold(id, state, changes)
      const state = store.get(id, ttl)
      const isAtHand = !(isPromise(state) || live.isShared)
      return isAtHand ? admit(state) : findLater(state, admit, live)
    },
    async end(ended) {
      await store.delete(ended.id)
      await live.end(ended.id)
    },
    update: (changing, change) => updateStored(store, live, changing, change),
    refresh: (resting) => void refresh(store, ttl, live, resting).catch(host.report),
  }
}

/** Others may look for the same session before this one is used. */
async function findLater(
  state: Awaitable<Readonly<SessionState> | undefined>,
  admit: (state: Readonly<SessionState> | undefined) => LiveSession | HttpAnswer,
  sessions: LiveSessions,
): Promise<LiveSession | HttpAnswer> {
  const live = admit(await state)
  return live instanceof HttpAnswer ? live : sessions.listen(live)
}

async function updateStored(
  store: SessionStore,
  sessions: LiveSessions,
  live: LiveSession,
  change: (state: SessionState) => void,
): Promise<void> {
  const state = await store.update(live.id, change)
  if (state === undefined) throw new ConnectionError('closed', 'The session has ended')
  await sessions.changed(live, state)
}

async function refresh(store: SessionStore, ttl: number, sessions: LiveSessions, live: LiveSession): Promise<void> {
  const { changes } = live
  const state = await store.get(live.id, ttl)
  if (state === undefined) sessions.endHere(live, new ConnectionError('closed', 'The session has ended'))
  else if (live.changes === changes) live.state = state
}

/** Each request has a session of its own, which nobody can ask on and which ends with it. */
function createNoRecords(host: Host): Records {
  const live = new LiveSessions(undefined, host.report)
  return {
    areKept: false,
    live,
    create: async () => {},
    find({ request }) {
      const version = request.header(VERSION_HEADER)
      const revision = isRevision(version) ? version : ASSUMED_REVISION
      const alone = new LiveSession(crypto.randomUUID(), { revision, initialized: true })
      alone.holders = 1
      return alone
    },
    end: async () => {},
    update: updateHere,
    refresh: () => {},
  }
}
