/** How one call is passed on: with the facts of who made it, and with everything that comes before its answer. */

import {
  type Context,
  type InputRequest,
  type InputResponse,
  isReservedMetaKey,
  type JsonObject,
  methodNotFound,
  pause,
  readEnvelope,
  userRejected,
} from '@mcpx/protocol'
import type { AskOrigin, RequestCallOptions } from './options.ts'

/**
 * Makes the call for whoever made this one. When it ends because of a question, it says what the question did.
 *
 * @param place which of the calls this is that are made for that one, as `placeOf` counts.
 */
export async function forward<Result>(
  ctx: Context,
  call: (options: RequestCallOptions) => Promise<Result>,
  place = 1,
): Promise<Result> {
  const stop = new AbortController()
  try {
    return await call(forwardOptions(ctx, stop, place))
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error
  }
}

const places = new WeakMap<Context, number>()

/**
 * Counts the calls that may ask and are made for one: each names its questions otherwise, so that no answer is taken for
 * that to another. What only lists is not counted, as its answer may be kept when the other calls are made anew.
 */
export function placeOf(ctx: Context): number {
  const place = (places.get(ctx) ?? 0) + 1
  places.set(ctx, place)
  return place
}

function forwardOptions(ctx: Context, stop: AbortController, place: number): RequestCallOptions {
  const envelope = readEnvelope({ _meta: ctx.meta })
  const isOlder = typeof envelope === 'string'
  // In the older era the level is the session's, and `ctx.log` keeps to it: all is asked for, as each session has its own.
  const logLevel = isOlder ? 'debug' : envelope.logLevel
  return {
    signal: AbortSignal.any([ctx.signal, stop.signal]),
    input: 'pass',
    // A call that says what it declares is never answered from what is kept, which is as it should be: who serves this
    // keeps answers by the hints that come along, and keeping them twice would keep them twice as long.
    capabilities: ctx.client.capabilities,
    logLevel,
    // In the older era nothing here says whether the caller wants to hear logs.
    logs: isOlder || logLevel !== undefined ? 'own' : 'mixed',
    meta: ownMeta(ctx.meta),
    onLog: ({ level, data, logger }) => void ctx.log[level](data, logger),
    onAsk: createOnAsk(ctx, stop, place),
    ...(ctx.meta.progressToken !== undefined && {
      onProgress: ({ progress, total, message }) => void ctx.progress(progress, total, message),
    }),
  }
}

/** The metadata that is not about this one hop. */
function ownMeta(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => key !== 'progressToken' && !isReservedMetaKey(key)))
}

/** How long a server may take to take back the question of a call that has ended, in ms; then it is answered. */
const TAKEN_BACK = 1_000

/**
 * Asks whoever made the call. If the answer comes with another request, this one ends here, and the other side makes
 * the call anew and is answered at once: the names of the questions are the same each time.
 */
function createOnAsk(ctx: Context, stop: AbortController, place: number) {
  let count = 0
  return async (request: InputRequest, { signal }: AskOrigin): Promise<InputResponse> => {
    count += 1
    const name = place === 1 ? `upstream-${count}` : `upstream-${place}.${count}`
    const answers = await ctx.ask({ [name]: request }).then(undefined, async (error: unknown) => {
      stop.abort(error)
      // The server takes its question back, now that the call is gone: an answer would only cross that on its way.
      await pause(TAKEN_BACK, signal).catch(() => {})
      throw userRejected('The question is asked elsewhere')
    })
    const answer = answers[name]
    if (answer === undefined) throw methodNotFound(request.method)
    return answer
  }
}
