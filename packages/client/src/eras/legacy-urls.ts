/** The error by which a legacy server sends the user to URLs before a call can work. */

import {
  check,
  type ElicitRequestURLParams,
  type ElicitResult,
  ErrorCode,
  type JsonObject,
  type Revision,
  RpcError,
  serverRequestParams,
} from '@mcpx/protocol'
import { withSignal } from '../cancellation.ts'
import type { Core } from '../core.ts'
import type { AskOrigin, CallOptions } from '../options.ts'
import type { ServerFacts } from './era.ts'

export interface RefusedCall {
  readonly method: string
  readonly options: CallOptions
  readonly revision: Revision
  readonly server: ServerFacts
  readonly error: unknown
}

/** Asks the user to visit all URLs that an error names. True when they did and the call is worth another try. */
export async function visitUrls(
  core: Core,
  { method, options, revision, server, error }: RefusedCall,
): Promise<boolean> {
  if (!(error instanceof RpcError) || error.code !== ErrorCode.UrlElicitationRequired) return false
  const asker = options.onAsk ?? core.handlers.answer
  if (options.onAsk === undefined && core.handlers.capabilities.elicitation?.url === undefined) return false
  const urls = urlsOf(error, revision)
  if (urls.length === 0) return false
  return withSignal(method, options.signal, async (signal) => {
    const origin: AskOrigin = { server: server.info, signal }
    for (const params of urls) {
      const { action } = (await asker({ method: 'elicitation/create', params }, origin)) as ElicitResult
      if (action !== 'accept') return false
    }
    return true
  })
}

/** The readable ones of the URLs that an error names. */
function urlsOf({ data }: RpcError, revision: Revision): ElicitRequestURLParams[] {
  const elicitations = (data as JsonObject | undefined)?.elicitations
  const schema = serverRequestParams(revision, 'elicitation/create')
  if (!Array.isArray(elicitations) || schema === undefined) return []
  return elicitations.filter((each) => each?.mode === 'url' && check(schema, each).problem === undefined)
}
