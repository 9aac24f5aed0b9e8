/** What a session's record says of a call. */

import {
  type Awaitable,
  type ClientFacts,
  type Exchange,
  type JsonObject,
  type LoggingLevel,
  type Revision,
  type Session,
  stripParamsFor,
} from '@mcpx/protocol'
import type { Asker } from '../asker.ts'
import type { CallFacts } from '../context.ts'
import type { Core } from '../core.ts'
import type { LegacyWay } from './legacy-input.ts'
import { isReady, untilReady } from './legacy-readiness.ts'

/** Until the client sets one, this is the level from which on it is told. */
const DEFAULT_LEVEL: LoggingLevel = 'info'

/** How long a user may take, in ms; the client ends the call earlier when it wants to. */
const ANSWER_TIMEOUT = 3_600_000

export type LegacyCore = Core<{ readonly legacy: LegacyWay }>

export class LegacyFacts implements CallFacts {
  readonly exchange: Exchange
  readonly session: Session
  readonly revision: Revision
  readonly core: LegacyCore
  #asker: Asker | undefined

  constructor(exchange: Exchange, session: Session, revision: Revision, core: LegacyCore) {
    this.exchange = exchange
    this.session = session
    this.revision = revision
    this.core = core
  }

  get client(): ClientFacts {
    const { clientInfo, clientCapabilities = {} } = this.session.state
    return { info: clientInfo, capabilities: clientCapabilities }
  }

  get logLevel(): LoggingLevel | undefined {
    return this.core.isLogging ? (this.session.state.logLevel ?? DEFAULT_LEVEL) : undefined
  }

  notify(method: string, params: JsonObject): Awaitable<void> {
    return this.exchange.notify(method, stripParamsFor(this.revision, method, params))
  }

  /** The same for all rounds of a call. */
  createAsker(): Asker {
    this.#asker ??= this.newAsker()
    return this.#asker
  }

  newAsker(): Asker {
    return this.core.wire.ways.legacy({
      capabilities: this.client.capabilities,
      revision: this.revision,
      ask: async (method, params) => {
        const { signal } = this.exchange
        if (!isReady(this.session)) await untilReady(this.session, signal)
        return this.session.request(method, params, { signal, timeout: ANSWER_TIMEOUT })
      },
      tell: (method, params) => this.exchange.notify(method, params),
    })
  }
}
