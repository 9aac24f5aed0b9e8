/** Answers the requests that a legacy server sends. */

import {
  type Awaitable,
  check,
  type Exchange,
  type InputRequest,
  type InputResponse,
  invalidParams,
  type JsonObject,
  methodNotFound,
  type RequestMessage,
  type Revision,
  serverRequestParams,
} from '@mcpx/protocol'
import type { Core, SentOptions } from '../core.ts'
import type { AskOrigin } from '../options.ts'
import type { ServerFacts } from './era.ts'

export interface LegacyAsks {
  answer(request: RequestMessage, exchange: Exchange): Awaitable<object>
  /** The handshake is done. */
  speak(revision: Revision, server: ServerFacts): void
}

export function createLegacyAsks(core: Core): LegacyAsks {
  let spoken: { revision: Revision; server: ServerFacts } | undefined

  /** Whoever answers needs time to think, in which the call that the question is about does not grow old. */
  async function answer(request: InputRequest, server: ServerFacts, exchange: Exchange): Promise<InputResponse> {
    const { signal, during } = exchange
    const origin: AskOrigin = { server: server.info, signal }
    const release = exchange.hold?.()
    try {
      const { onAsk } = (during as SentOptions | undefined) ?? {}
      return await (onAsk?.(request, origin) ??
        core.turns?.answer(request, origin) ??
        core.handlers.answer(request, origin))
    } finally {
      release?.()
    }
  }

  return {
    answer({ method, params = {} }, exchange) {
      if (method === 'ping') return {}
      const schema = spoken && serverRequestParams(spoken.revision, method)
      if (spoken === undefined || schema === undefined || !isAsk(method)) throw methodNotFound(method)
      const { value, problem } = check(schema, params, 'params')
      if (problem !== undefined) throw invalidParams(problem)
      const request = { method, params: value as JsonObject } as unknown as InputRequest
      return answer(request, spoken.server, exchange)
    },
    speak(revision, server) {
      spoken = { revision, server }
    },
  }
}

function isAsk(method: string): method is InputRequest['method'] {
  return method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list'
}
