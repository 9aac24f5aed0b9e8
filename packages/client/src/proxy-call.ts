/** How one call is passed on: with the facts of who made it, and with everything that comes before its answer. */

import {
  type Context,
  type InputRequest,
  type InputResponse,
  isReservedMetaKey,
  type JsonObject,
  methodNotFound,
  readEnvelope,
} from '@mcpx/protocol'
import type { RequestCallOptions } from './options.ts'

export function forwardOptions(ctx: Context): RequestCallOptions {
  const stop = new AbortController()
  const envelope = readEnvelope({ _meta: ctx.meta })
  return {
    signal: AbortSignal.any([ctx.signal, stop.signal]),
    input: 'pass',
    // A call that says what it declares is never answered from what is kept, which is as it should be: who serves this
    // keeps answers by the hints that come along, and keeping them twice would keep them twice as long.
    capabilities: ctx.client.capabilities,
    logLevel: typeof envelope === 'string' ? undefined : envelope.logLevel,
    meta: ownMeta(ctx.meta),
    onLog: ({ level, data, logger }) => void ctx.log[level](data, logger),
    onAsk: createOnAsk(ctx, stop),
    ...(ctx.meta.progressToken !== undefined && {
      onProgress: ({ progress, total, message }) => void ctx.progress(progress, total, message),
    }),
  }
}

/** The metadata that is not about this one hop. */
function ownMeta(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => key !== 'progressToken' && !isReservedMetaKey(key)))
}

/**
 * Asks whoever made the call. If the answer comes with another request, this one ends here, and the other side makes
 * the call anew and is answered at once: the names of the questions are the same each time.
 */
function createOnAsk(ctx: Context, stop: AbortController) {
  let count = 0
  return async (request: InputRequest): Promise<InputResponse> => {
    count += 1
    const name = `upstream-${count}`
    const answers = await ctx.ask({ [name]: request }).then(undefined, (error: unknown) => {
      stop.abort(error)
      throw error
    })
    const answer = answers[name]
    if (answer === undefined) throw methodNotFound(request.method)
    return answer
  }
}
