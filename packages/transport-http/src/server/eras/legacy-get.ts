/** GET: the stream of what a session is told unasked, and the rest of a stream that was lost. */

import { type AuthInfo, type EventReplay, type EventStore, invalidRequest } from '@mcpx/protocol'
import { encodeComment, encodeEvent } from '@mcpx/sse/encode'
import { EVENTS_TYPE, LAST_EVENT_HEADER } from '../../headers.ts'
import { eventsAnswer, messageText, notAllowed, refusal } from '../answers.ts'
import type { EventStream } from '../event-stream.ts'
import type { Host, Inbound } from '../host.ts'
import type { HttpAnswer } from '../http-answer.ts'
import type { LiveSession } from './legacy-live.ts'
import { HttpSession, type UpdateSession } from './legacy-session.ts'
import type { LegacyStreams } from './legacy-streams.ts'

export interface GetContext {
  readonly auth: AuthInfo | undefined
  readonly host: Host
  readonly streams: LegacyStreams
  readonly update: UpdateSession
  /** Reads the record again and lets it live on; ends what runs here when there is none any more. */
  readonly refresh: (live: LiveSession) => void
}

export async function getStream(live: LiveSession, inbound: Inbound, context: GetContext): Promise<HttpAnswer> {
  const { host, streams } = context
  if (!inbound.takesEvents) return refusal(406, invalidRequest(`Accept must list ${EVENTS_TYPE}`))
  const most = host.limits.sessionStreams
  if (live.readers >= most) return tooManyStreams(most)
  const lastEventId = inbound.request.header(LAST_EVENT_HEADER)
  if (lastEventId === null) return openFeed(live, context)
  const { events } = streams
  const replay = await events?.replay(lastEventId)
  const kind = replay && streams.kindOf(replay.streamId, live)
  if (events === undefined || replay === undefined || kind === undefined) {
    return refusal(400, invalidRequest('Last-Event-ID names an event that is not known here, or no longer'))
  }
  if (kind === 'feed') return openFeed(live, context, { lastEventId, streamId: replay.streamId })
  const lost = { live, context, events, lastEventId }
  if (replay.ended || (await streams.isWritten(live, replay.streamId))) return resumePost(lost, replay)
  // It may have been ended while its writer was looked for.
  const now = await events.replay(lastEventId)
  if (now?.ended === true) return resumePost(lost, now)
  return refusal(
    400,
    invalidRequest('The process that wrote to this stream is gone: what was asked there has no answer'),
  )
}

export function tooManyStreams(most: number): HttpAnswer {
  return refusal(429, invalidRequest(`Too many streams of one session: at most ${most} (limits.sessionStreams)`))
}

interface Lost {
  readonly lastEventId: string
  readonly streamId: string
}

/** A client that lost this stream may be back before its going was noticed: the newest reader has it. */
function openFeed(live: LiveSession, context: GetContext, lost?: Lost): HttpAnswer {
  const { host, streams } = context
  if (host.responder.changes === undefined) {
    return notAllowed('POST, DELETE')
  }
  if (live.endFeed !== undefined) {
    if (lost === undefined) return refusal(409, invalidRequest('This session has its stream already: one at a time'))
    live.endFeed()
  }
  const ending = new AbortController()
  const stop = () => {
    if (live.endFeed === end) live.endFeed = undefined
    ending.abort()
  }
  const reader = streams.openReader(live, context.auth, stop, () => context.refresh(live))
  const end = () => reader.end()
  live.endFeed = end
  void runFeed(live, reader, { context, signal: ending.signal, lost })
  return eventsAnswer(reader)
}

interface Feed {
  readonly context: GetContext
  readonly signal: AbortSignal
  readonly lost: Lost | undefined
}

async function runFeed(live: LiveSession, reader: EventStream, { context, signal, lost }: Feed): Promise<void> {
  const { host, streams, update } = context
  const { events } = streams
  try {
    const changes = host.responder.changes?.(new HttpSession(live, update), signal)
    // Makes the response begin before there is anything to say.
    void reader.send(encodeComment())
    const stored =
      events !== undefined && streams.keepsEventsOf(live)
        ? streams.openStored(live, events, lost?.streamId ?? streams.newId(live, 'feed'))
        : undefined
    if (stored !== undefined && lost === undefined) await stored.open(reader)
    if (stored !== undefined && lost !== undefined) await stored.resume(lost.lastEventId, reader)
    try {
      for await (const change of changes ?? []) {
        const text = messageText(change, host.report)
        if (text === undefined) continue
        await (stored === undefined ? reader.send(encodeEvent({ data: text })) : stored.send(text))
      }
    } finally {
      stored?.release()
    }
  } catch (problem) {
    host.report(problem as Error)
  } finally {
    reader.end()
  }
}

interface LostPost {
  readonly live: LiveSession
  readonly context: GetContext
  readonly events: EventStore
  readonly lastEventId: string
}

/** How often the events of a stream that another process writes are looked for, in ms. */
const POLL = 500

function resumePost({ live, context, events, lastEventId }: LostPost, replay: EventReplay): HttpAnswer {
  const stream = live.streams.get(replay.streamId)
  const gone = new AbortController()
  const reader = context.streams.openReader(
    live,
    context.auth,
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
