/** GET: the stream of what a session is told unasked, and the rest of a stream that was lost. */

import { type EventReplay, type EventStore, invalidRequest, type RequestId } from '@mcpx/protocol'
import { encodeComment, encodeEvent } from '@mcpx/sse/encode'
import { EVENTS_TYPE, LAST_EVENT_HEADER } from '../../headers.ts'
import { eventsAnswer, notAllowed, refusal, shuttingDown } from '../answers.ts'
import type { EventStream } from '../event-stream.ts'
import type { Inbound } from '../host.ts'
import type { HttpAnswer } from '../http-answer.ts'
import { type FeedContext, type Lost, openFeed } from './legacy-feed.ts'
import type { LiveSession } from './legacy-live.ts'
import { noSession } from './legacy-refusals.ts'

export async function getStream(live: LiveSession, inbound: Inbound, context: FeedContext): Promise<HttpAnswer> {
  const { host, streams } = context
  if (!inbound.takesEvents) return refusal(406, invalidRequest(`Accept must list ${EVENTS_TYPE}`))
  const most = host.limits.sessionStreams
  if (live.readers >= most) return tooManyStreams(most)
  const lastEventId = inbound.request.header(LAST_EVENT_HEADER)
  if (lastEventId === null) return refuseIfOver(live, context) ?? feed(live, inbound, context)
  const events = streams.keeping?.events
  const replay = await events?.replay(lastEventId)
  const kind = replay && streams.kindOf(replay.streamId, live)
  if (events === undefined || replay === undefined || kind === undefined) {
    return refusal(400, invalidRequest('Last-Event-ID names an event that is not known here, or no longer'))
  }
  const over = refuseIfOver(live, context)
  if (over !== undefined) return over
  if (kind === 'feed') return feed(live, inbound, context, { lastEventId, streamId: replay.streamId })
  const lost = { live, inbound, context, events, lastEventId }
  if (replay.ended || (await streams.isWritten(live, replay.streamId))) return resumePost(lost, replay)
  // It may have been ended while its writer was looked for.
  const now = await events.replay(lastEventId)
  if (now?.ended === true) return resumePost(lost, now)
  return refusal(
    400,
    invalidRequest('The process that wrote to this stream is gone: what was asked there has no answer'),
  )
}

/** All that was waited for may have taken its time. */
function refuseIfOver(live: LiveSession, { isClosing }: FeedContext): HttpAnswer | undefined {
  if (isClosing) return shuttingDown()
  return live.isOver ? noSession() : undefined
}

/** @param asked the id of the request that would have opened one */
export function tooManyStreams(most: number, asked?: RequestId): HttpAnswer {
  const error = invalidRequest(`Too many streams of one session: at most ${most} (limits.sessionStreams)`)
  return refusal(429, error, asked)
}

/** A client that lost this stream may be back before its going was noticed: the newest reader has it. */
function feed(live: LiveSession, inbound: Inbound, context: FeedContext, lost?: Lost): HttpAnswer {
  if (context.host.responder.changes === undefined) return notAllowed('POST, DELETE')
  const { feed: earlier } = live
  if (earlier === undefined) return eventsAnswer(openFeed(live, inbound, context, lost))
  if (lost === undefined && earlier.isAway !== true)
    return refusal(409, invalidRequest('This session has its stream already: one at a time'))
  earlier.end()
  const before = earlier.stored?.id === lost?.streamId ? earlier.stored : undefined
  return eventsAnswer(openFeed(live, inbound, context, lost && { ...lost, before }))
}

interface LostPost {
  readonly live: LiveSession
  readonly inbound: Inbound
  readonly context: FeedContext
  readonly events: EventStore
  readonly lastEventId: string
}

/** How often the events of a stream that another process writes are looked for, in ms. */
const POLL = 500

function resumePost({ live, inbound, context, events, lastEventId }: LostPost, replay: EventReplay): HttpAnswer {
  const stream = live.streams.get(replay.streamId)
  const gone = new AbortController()
  const reader = context.streams.openReader(
    live,
    inbound,
    (left) => {
      stream?.detach(left)
      gone.abort()
    },
    () => context.refresh(live),
  )
  void reader.send(encodeComment())
  if (stream !== undefined) void stream.resume(lastEventId, reader)
  else {
    const isWritten = () => context.streams.isWritten(live, replay.streamId)
    const copied = copyEvents(reader, { events, lastEventId, isWritten, signal: gone.signal }, replay)
    void copied.catch(context.host.report).finally(() => reader.end())
  }
  return eventsAnswer(reader)
}

interface Copying {
  readonly events: EventStore
  readonly lastEventId: string
  readonly isWritten: () => Promise<boolean>
  readonly signal: AbortSignal
}

/** Copies what another process stores, until it has ended the stream, or is gone: then the client is told when it asks again. */
async function copyEvents(reader: EventStream, copying: Copying, first: EventReplay): Promise<void> {
  let replay: EventReplay | undefined = first
  let last = copying.lastEventId
  let isLast = false
  while (replay !== undefined && !copying.signal.aborted) {
    for (const { id, data } of replay.events) {
      last = id
      await reader.send(encodeEvent({ id, data }))
    }
    if (replay.ended || isLast) return
    const hadEvents = replay.events.length > 0
    await new Promise((resolve) => setTimeout(resolve, POLL))
    // What it stored before it went is still sent.
    isLast = !hadEvents && !(await copying.isWritten())
    replay = await copying.events.replay(last)
  }
}
