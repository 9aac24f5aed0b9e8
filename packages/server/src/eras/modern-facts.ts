/** What a request's own envelope says of a call. */

import type { Awaitable, ClientFacts, JsonObject, LoggingLevel } from '@mcpx/protocol'
import type { Asker } from '../asker.ts'
import type { CallFacts } from '../context.ts'
import type { ModernCall } from './modern-call.ts'

export class ModernFacts implements CallFacts {
  readonly #call: ModernCall
  readonly #state: JsonObject | undefined

  constructor(call: ModernCall, state: JsonObject | undefined) {
    this.#call = call
    this.#state = state
  }

  get client(): ClientFacts {
    const { clientInfo, clientCapabilities } = this.#call.envelope
    return { info: clientInfo, capabilities: clientCapabilities }
  }

  get logLevel(): LoggingLevel | undefined {
    const { core, envelope } = this.#call
    return core.isLogging ? envelope.logLevel : undefined
  }

  notify(method: string, params: JsonObject): Awaitable<void> {
    return this.#call.exchange.notify(method, params)
  }

  createAsker(): Asker {
    return this.#call.core.wire.ways.modern.createAsker(this.#call, this.#state)
  }
}
