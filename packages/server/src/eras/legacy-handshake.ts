/** The handshake: agrees on a revision and remembers in the session who the client is. */

import {
  type Awaitable,
  type ClientCapabilities,
  errorMessage,
  type Implementation,
  invalidParams,
  invalidRequest,
  LATEST_LEGACY_REVISION,
  type RequestMessage,
  type ResponseMessage,
  type Revision,
  resultMessage,
  revisionsOf,
  type Session,
  type SessionState,
  stripFor,
  stripParamsFor,
} from '@mcpx/protocol'
import type { Core } from '../core.ts'
import { toAnswer } from '../faults.ts'
import { settle } from '../settle.ts'
import { paramsProblem } from './params.ts'

interface Offer {
  readonly protocolVersion: string
  readonly capabilities: ClientCapabilities
  readonly clientInfo: Implementation
}

export function initialize(message: RequestMessage, session: Session, core: Core): Awaitable<ResponseMessage> {
  const { id } = message
  if (session.state.revision !== undefined) {
    return errorMessage(id, invalidRequest('The session is initialized already: open a new one'))
  }
  const problem = paramsProblem(core, LATEST_LEGACY_REVISION, message.method, message.params ?? {})
  if (problem !== undefined) return errorMessage(id, invalidParams(problem))
  const offer = message.params as unknown as Offer
  const revision = agree(offer.protocolVersion)
  // What the agreed revision does not have cannot be asked for, whatever the client says it can do.
  const { capabilities, clientInfo } = stripParamsFor(revision, 'initialize', offer)
  return settle<void, ResponseMessage>(
    () => session.update((state) => open(state, { revision, clientInfo, clientCapabilities: capabilities })),
    () => resultMessage(id, stripFor(revision, 'initialize', welcome(revision, core))),
    (error) => errorMessage(id, toAnswer(error, undefined, core.faults)),
  )
}

/** The revision asked for where it is served, else the newest of this era: the client decides whether it can go on. */
function agree(requested: string): Revision {
  return revisionsOf('legacy').find((revision) => revision === requested) ?? LATEST_LEGACY_REVISION
}

/** Another process may have been quicker: a session is opened once. */
function open(state: SessionState, opened: SessionState): void {
  if (state.revision !== undefined) throw invalidRequest('The session is initialized already: open a new one')
  Object.assign(state, opened)
}

function welcome(protocolVersion: Revision, { capabilities, info, instructions }: Core): object {
  const result = { protocolVersion, capabilities, serverInfo: info }
  return instructions === undefined ? result : { ...result, instructions }
}
