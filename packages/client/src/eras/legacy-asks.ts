/** Answers the requests that a legacy server sends. */

import {
  type Awaitable,
  check,
  type InputRequest,
  type InputResponse,
  internalError,
  invalidParams,
  type JsonObject,
  methodNotFound,
  type RequestMessage,
  type Revision,
  serverRequestParams,
} from '@mcpx/protocol'
import type { Core } from '../core.ts'
import type { AskOrigin } from '../options.ts'
import type { ServerFacts } from './era.ts'

type OnAsk = (request: InputRequest, origin: AskOrigin) => Awaitable<InputResponse>

export interface LegacyAsks {
  answer(request: RequestMessage, signal: AbortSignal): Awaitable<object>
  /** The handshake is done. */
  speak(revision: Revision, server: ServerFacts): void
  /**
   * Has a call answer what is asked from now on, until the returned function is called. The wire does not say which
   * call an ask belongs to: while several such calls run, none is asked, as it could be the wrong one.
   */
  use(onAsk: OnAsk): () => void
}

export function createLegacyAsks(core: Core): LegacyAsks {
  let spoken: { revision: Revision; server: ServerFacts } | undefined
  const calls: OnAsk[] = []

  return {
    answer({ method, params = {} }, signal) {
      if (method === 'ping') return {}
      const schema = spoken && serverRequestParams(spoken.revision, method)
      if (spoken === undefined || schema === undefined || !isAsk(method)) throw methodNotFound(method)
      const { value, problem } = check(schema, params, 'params')
      if (problem !== undefined) throw invalidParams(problem)
      const request = { method, params: value as JsonObject } as unknown as InputRequest
      const origin: AskOrigin = { server: spoken.server.info, signal }
      if (calls.length > 1) throw internalError('Several calls are running, and nothing says which one asks')
      return calls[0]?.(request, origin) ?? core.handlers.answer(request, origin)
    },
    speak(revision, server) {
      spoken = { revision, server }
    },
    use(onAsk) {
      calls.push(onAsk)
      return () => void calls.splice(calls.lastIndexOf(onAsk), 1)
    },
  }
}

function isAsk(method: string): method is InputRequest['method'] {
  return method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list'
}
