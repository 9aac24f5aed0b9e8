/** The modern wire: every request says who asks, in which revision, and what they can be asked. */

import {
  ConnectionError,
  type DiscoverResult,
  type InputRequiredResult,
  type JsonObject,
  LATEST_MODERN_REVISION,
  type Revision,
  RpcError,
  requestEntry,
  serverInfoOf,
  withEnvelope,
} from '@mcpx/protocol'
import type { Core } from '../core.ts'
import type { Line } from '../line.ts'
import type { RequestCallOptions } from '../options.ts'
import type { Link, ServerFacts } from './era.ts'
import { createSender, envelopeOf, type Sender } from './modern-send.ts'

/** Asks a server what it is, in one revision. */
export async function discover(
  core: Core,
  { connection }: Line,
  revision: Revision = LATEST_MODERN_REVISION,
  limit?: number,
): Promise<unknown> {
  const { signal, timeout } = core.options
  const params = withEnvelope(undefined, envelopeOf(core, revision, {}))
  return connection.request('server/discover', params, { signal, timeout: limit ?? timeout, announceCancel: false })
}

/** Speaks with a server that has shown itself. */
export function openModern(core: Core, line: Line, first: DiscoverResult, agreed: Revision): Link {
  const { connection } = line
  const sender = createSender(core, line, agreed)
  void warnOfDeprecated(core)
  let server = factsOf(first)
  core.cache.fetching('server/discover', {})(first as unknown as JsonObject)

  const link: Link = {
    era: 'modern',
    get revision() {
      return sender.revision
    },
    get server() {
      return server
    },
    connection,
    get ended() {
      return line.ended || sender.isMistaken
    },
    request: (method, params, options) => request({ core, sender, server }, method, params, options),
    async listen(filter, hooks) {
      const stamp = (params: JsonObject) => withEnvelope(params, envelopeOf(core, sender.revision, {}))
      const { listenModern } = await import('./modern-listen.ts')
      await listenModern({ core, connection, stamp, capabilities: server.capabilities }, filter, hooks)
    },
    async discover(options) {
      server = factsOf((await link.request('server/discover', {}, options)) as unknown as DiscoverResult)
      return server
    },
    async setLogLevel(level) {
      core.logLevel = level
    },
    async ping() {
      const hint = 'Call discover({ fresh: true }) to see whether the server is there.'
      throw new ConnectionError('unsupported', `Revision ${sender.revision} has no ping`, { hint })
    },
    // Roots are asked for anew each time, so there is nobody to tell.
    async rootsChanged() {},
  }
  return link
}

function factsOf(result: DiscoverResult): ServerFacts {
  return { info: serverInfoOf(result), capabilities: result.capabilities, instructions: result.instructions }
}

interface Speaker {
  readonly core: Core
  readonly sender: Sender
  readonly server: ServerFacts
}

/** Answers from what is kept, or asks until the result is complete. Only what was complete at once is kept. */
async function request(
  { core, sender, server }: Speaker,
  method: string,
  params: JsonObject,
  options: RequestCallOptions,
): Promise<JsonObject> {
  const isKept = requestEntry(sender.revision, method)?.cacheable === true && isPlain(params, options)
  const hit = isKept && options.fresh !== true ? core.cache.get(method, params) : undefined
  if (hit !== undefined) return hit
  const keep = isKept ? core.cache.fetching(method, params) : undefined
  const begun = performance.now()
  let result: JsonObject
  try {
    result = await sender.send(method, params, options)
  } catch (error) {
    if (error instanceof RpcError) core.cache.doubt(method, error.code)
    throw error
  }
  if (result.resultType !== 'input_required') {
    keep?.(result)
    return result
  }
  if (options.input === 'pass') return result
  const { send } = sender
  const { carryOn } = await import('./modern-retry.ts')
  return carryOn(result as unknown as InputRequiredResult, { core, server, begun, method, params, options, send })
}

/** What warns is loaded where there is something to warn of. */
async function warnOfDeprecated({ options }: Core): Promise<void> {
  if ((options.onSample ?? options.roots ?? options.onLog ?? options.logLevel) === undefined) return
  const deprecations = await import('../deprecations.ts')
  deprecations.warnOfDeprecated(options)
}

/** Whether the answer depends on nothing but the method and its parameters. */
function isPlain(params: JsonObject, { meta, capabilities }: RequestCallOptions): boolean {
  return meta === undefined && capabilities === undefined && !('inputResponses' in params || 'requestState' in params)
}
