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
import type { LegacyStreams } from './legacy-streams.ts'

export async function getStream(live: LiveSession, inbound: Inbound, context: FeedContext): Promise<HttpAnswer> {
  const { host, streams } = context
  if (!inbound.takesEvents) return refusal(406, invalidRequest(`Accept must list ${EVENTS_TYPE}`))
  const most = host.limits.sessionStreams
  if (live.readers >= most) return tooManyStreams(most)
  const lastEventId = inbound.request.header(LAST_EVENT_HEADER)
  const open = lastEventId === null ? openFirst : await findLost(live, streams, lastEventId)
  // All that was waited for may have taken its time.
  if (context.isClosing) return shuttingDown()
  if (live.isOver) return noSession()
  return open(live, inbound, context)
}

type Open = (live: LiveSession, inbound: Inbound, context: FeedContext) => HttpAnswer

/** How to go on after an event. */
async function findLost(live: LiveSession, streams: LegacyStreams, lastEventId: string): Promise<Open> {
  const events = streams.keeping?.events
  if (events === undefined) return unknownEvent
  const replay = await events.replay(lastEventId)
  if (replay === undefined) return findForgotten(live, streams, events, lastEventId)
  const { streamId } = replay
  const kind = streams.kindOf(streamId, live)
  if (kind === undefined) return unknownEvent
  if (kind === 'feed') return openFeedAgain({ lastEventId, streamId })
  if (replay.ended || (await streams.isWritten(live, streamId))) return resumePost({ events, lastEventId, replay })
  // It may have been ended while its writer was looked for.
  const now = await events.replay(lastEventId)
  return now?.ended === true ? resumePost({ events, lastEventId, replay: now }) : writerGone
}

/** Stores forget. What is told unasked goes on all the same, and so does an answer that is still to come. */
function findForgotten(live: LiveSession, streams: LegacyStreams, events: EventStore, lastEventId: string): Open {
  if (streams.isOfFeed(lastEventId, live)) return openFeedAgain()
  const stream = live.streamOf(lastEventId)
  if (stream === undefined) return unknownEvent
  return resumePost({ events, lastEventId, replay: { streamId: stream.id, events: [], ended: false } })
}

const unknownEvent = () =>
  refusal(400, invalidRequest('Last-Event-ID names an event that is not known here, or no longer'))
const writerGone = () =>
  refusal(400, invalidRequest('The process that wrote to this stream is gone: what was asked there has no answer'))

/** @param asked the id of the request that would have opened one */
export function tooManyStreams(most: number, asked?: RequestId): HttpAnswer {
  const error = invalidRequest(`Too many streams of one session: at most ${most} (limits.sessionStreams)`)
  return refusal(429, error, asked)
}

const openFirst: Open = (live, inbound, context) => {
  if (live.feed !== undefined && live.feed.isAway !== true)
    return refusal(409, invalidRequest('This session has its stream already: one at a time'))
  return feed(live, inbound, context)
}

/** A client that lost this stream may be back before its going was noticed: the newest reader has it. */
function openFeedAgain(at?: Lost['at']): Open {
  return (live, inbound, context) => feed(live, inbound, context, at)
}

function feed(live: LiveSession, inbound: Inbound, context: FeedContext, at?: Lost['at']): HttpAnswer {
  if (context.host.responder.watchChanges === undefined) return notAllowed('POST, DELETE')
  const { feed: earlier } = live
  if (earlier === undefined) return eventsAnswer(openFeed(live, inbound, context, { at }))
  const { missed, stored } = earlier
  earlier.missed = undefined
  earlier.end()
  const before = at === undefined || at.streamId === stored?.id ? stored : undefined
  return eventsAnswer(openFeed(live, inbound, context, { at, before, missed }))
}

interface LostPost {
  readonly events: EventStore
  readonly lastEventId: string
  readonly replay: EventReplay
}

/** How often the events of a stream that another process writes are looked for, in ms. */
const POLL = 500

function resumePost({ events, lastEventId, replay }: LostPost): Open {
  return (live, inbound, context) => {
    const stream = live.streams.get(replay.streamId)
    const gone = new AbortController()
    const left = (reader: EventStream) => {
      stream?.detach(reader)
      gone.abort()
    }
    const reader = context.streams.openReader(live, inbound, left, () => stream?.refresh())
    void reader.send(encodeComment())
    if (stream !== undefined) void stream.resume(lastEventId, reader)
    else {
      const isWritten = () => context.streams.isWritten(live, replay.streamId)
      const copied = copyEvents(reader, { events, lastEventId, isWritten, signal: gone.signal }, replay)
      void copied.catch(context.host.report).finally(() => reader.end())
    }
    return eventsAnswer(reader)
  }
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
