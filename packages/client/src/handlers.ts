/** Answers what servers ask with the callbacks that were given; what there is no callback for is not declared. */

import type { ClientCapabilities, InputRequest, InputResponse } from '@mcpx/protocol'
import { checkRoots, declared } from './declared.ts'
import type { AskOrigin, ClientOptions } from './options.ts'

export interface Handlers {
  /** What the callbacks can do. */
  readonly capabilities: ClientCapabilities
  /** Answers one ask. Throws `RpcError` for what was not declared; what a callback throws passes through. */
  answer(request: InputRequest, origin: AskOrigin): Promise<InputResponse>
}

export function createHandlers(options: ClientOptions): Handlers {
  if (Array.isArray(options.roots)) checkRoots(options.roots)
  return {
    capabilities: declared(options),
    async answer(request, origin) {
      // Most clients are never asked: what answers is loaded with the first question.
      const { answerAsk } = await import('./answers.ts')
      return answerAsk(options, request, origin)
    },
  }
}
