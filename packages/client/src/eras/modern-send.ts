/** Sends one request of the modern era with all that it says of itself, and reads what kind of result came. */

import {
  clientRequestResult,
  type Envelope,
  ErrorCode,
  eraOf,
  isRevision,
  type JsonObject,
  type Revision,
  RpcError,
  requestEntry,
  withEnvelope,
} from '@mcpx/protocol'
import { type Core, sendOptions } from '../core.ts'
import type { Line } from '../line.ts'
import type { RequestCallOptions } from '../options.ts'
import { checkResult, invalidResult, withCallMeta } from './era.ts'

/** The newest modern revision among those that a server says it speaks. */
export function mutualRevision(supported: unknown): Revision | undefined {
  if (!Array.isArray(supported)) return undefined
  return supported
    .filter(isRevision)
    .filter((revision) => eraOf(revision) === 'modern')
    .sort()
    .at(-1)
}

/** The revisions that a refused request could have been sent in. */
export function supportedBy(error: unknown): unknown {
  if (!(error instanceof RpcError) || error.code !== ErrorCode.UnsupportedProtocolVersion) return undefined
  return (error.data as JsonObject | undefined)?.supported
}

/** What a request says of the client. */
export function envelopeOf(core: Core, protocolVersion: Revision, options: RequestCallOptions): Envelope {
  return {
    protocolVersion,
    clientCapabilities: options.capabilities ?? core.handlers.capabilities,
    clientInfo: core.options.clientInfo === false ? undefined : core.clientInfo,
    logLevel: options.logLevel ?? core.logLevel,
  }
}

export interface Sender {
  readonly revision: Revision
  /** The server says that it speaks no revision of this era any more. */
  readonly isMistaken: boolean
  /** The complete result, or an unfinished one, checked. */
  send(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject>
}

export function createSender(core: Core, { connection }: Line, agreed: Revision): Sender {
  let revision = agreed
  let isMistaken = false

  async function attempt(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject> {
    const sent = withEnvelope(params, envelopeOf(core, revision, options))
    const result = (await connection.request(method, sent, sendOptions(core, options))) as JsonObject
    if ((result.resultType ?? 'complete') === 'complete')
      return checkResult(clientRequestResult(revision, method), method, result)
    return readUnfinished(revision, method, result, options)
  }

  return {
    get revision() {
      return revision
    },
    get isMistaken() {
      return isMistaken
    },
    async send(method, params, options) {
      const sent = withCallMeta(params, options.meta)
      try {
        return await attempt(method, sent, options)
      } catch (error) {
        const supported = supportedBy(error)
        const mutual = mutualRevision(supported)
        isMistaken ||= supported !== undefined && mutual === undefined
        if (mutual === undefined) throw error
        revision = mutual
        return attempt(method, sent, options)
      }
    },
  }
}

/** Finished or not: what came is what its `resultType` says. */
async function readUnfinished(
  revision: Revision,
  method: string,
  result: JsonObject,
  { resultTypes }: RequestCallOptions,
): Promise<JsonObject> {
  const type = result.resultType
  if (type === 'input_required' && requestEntry(revision, method)?.mayAsk) {
    const { checkUnfinished } = await import('./modern-unfinished.ts')
    return checkUnfinished(result, method)
  }
  if (resultTypes?.includes(type as string)) return result
  throw invalidResult(method, 'result.resultType: expected a word that this request can be answered with')
}
