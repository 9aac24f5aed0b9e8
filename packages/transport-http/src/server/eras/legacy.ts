/** The legacy era over HTTP: a handshake opens a session, and a header names it from then on. */

import {
  type Awaitable,
  BATCH_REVISION,
  ErrorCode,
  eraOf,
  errorMessage,
  isPromise,
  isRevision,
  type JsonObject,
  type Message,
  type NotificationMessage,
  REVISIONS,
  Refusal,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
  unsupportedVersion,
} from '@mcpx/protocol'
import { SESSION_HEADER, VERSION_HEADER } from '../../headers.ts'
import { accepted, answerText, jsonAnswer, notAllowed, refusal, silentAnswer } from '../answers.ts'
import { HttpExchange } from '../exchange.ts'
import { answerRequest, type Host, hearNotification, type Inbound } from '../host.ts'
import { HttpAnswer } from '../http-answer.ts'
import { LazyReply, type Manner, type MessageStream } from '../lazy-reply.ts'
import type { SessionEra } from './era.ts'
import { unreachable } from './legacy-asking.ts'
import type { FeedContext } from './legacy-feed.ts'
import { getStream, tooManyStreams } from './legacy-get.ts'
import { LiveSession } from './legacy-live.ts'
import { createRecords, type Records } from './legacy-records.ts'
import { inFlight, noBatches, tooManyRequests } from './legacy-refusals.ts'
import { HttpSession, sessionEnded, updateHere } from './legacy-session.ts'
import { SseConnections } from './legacy-sse.ts'
import { LegacyStreams } from './legacy-streams.ts'

type Item = Message | Refusal

export function createLegacy(host: Host): SessionEra {
  const records = createRecords(host)
  const streams = new LegacyStreams(host, records)
  const era = new LegacyEra(host, records, streams)
  return {
    post: (arrived, inbound) => era.post(arrived, inbound),
    other: (inbound) => era.other(inbound),
    endFeeds: () => era.endFeeds(),
    close(reason) {
      era.close(reason)
    },
  }
}

class LegacyEra implements Manner<LiveSession> {
  readonly #host: Host
  readonly #records: Records
  readonly #streams: LegacyStreams
  readonly #feeds: FeedContext
  readonly #sse: SseConnections | undefined

  constructor(host: Host, records: Records, streams: LegacyStreams) {
    this.#host = host
    this.#records = records
    this.#streams = streams
    this.#feeds = { host, streams, update: records.update, refresh: records.refresh, away: new Set(), isClosing: false }
    this.#sse = host.options.sse === undefined ? undefined : new SseConnections(host, host.options.sse)
  }

  post(arrived: Message | Item[], inbound: Inbound): Awaitable<HttpAnswer> {
    if (this.#sse?.handles(inbound)) return this.#sse.post(arrived, inbound)
    const isHandshake = !Array.isArray(arrived) && 'method' in arrived && arrived.method === 'initialize'
    const hasSession = inbound.request.header(SESSION_HEADER) !== null
    if (isHandshake && 'id' in arrived && !hasSession) return this.#open(arrived as RequestMessage, inbound)
    const wrong = versionProblem(inbound, arrived)
    if (wrong !== undefined) return wrong
    const live = this.#records.find(inbound, idOf(arrived))
    return isPromise(live)
      ? live.then((found) => this.#receiveHeld(arrived, found, inbound))
      : this.#receiveHeld(arrived, live, inbound)
  }

  #receiveHeld(arrived: Message | Item[], live: LiveSession | HttpAnswer, inbound: Inbound): Awaitable<HttpAnswer> {
    if (live instanceof HttpAnswer) return live
    let answer: Awaitable<HttpAnswer> | undefined
    try {
      answer = this.#receive(arrived, live, inbound)
      return isPromise(answer) ? this.#releaseAfter(answer, live) : answer
    } finally {
      if (!isPromise(answer)) this.#records.live.release(live)
    }
  }

  async #releaseAfter(answer: PromiseLike<HttpAnswer>, live: LiveSession): Promise<HttpAnswer> {
    this.#records.live.keep(live)
    try {
      return await answer
    } finally {
      this.#records.live.release(live)
    }
  }

  async other(inbound: Inbound): Promise<HttpAnswer> {
    if (this.#sse?.handles(inbound)) return this.#sse.other(inbound)
    if (!this.#records.areKept) return notAllowed('POST')
    const isGet = inbound.request.method === 'GET'
    if (isGet && this.#host.options.responses === 'json') {
      return notAllowed('POST, DELETE')
    }
    const wrong = versionProblem(inbound)
    if (wrong !== undefined) return wrong
    const live = await this.#records.find(inbound)
    if (live instanceof HttpAnswer) return live
    this.#records.live.keep(live)
    try {
      if (isGet) return await getStream(live, inbound, this.#feeds)
      await this.#records.end(live)
      await sessionEnded(this.#host, new HttpSession(live, this.#records.update))
      return new HttpAnswer(204, {}, null)
    } finally {
      this.#records.live.release(live)
    }
  }

  /** Ends what nobody else ends, and opens no more of it. */
  endFeeds(): void {
    this.#feeds.isClosing = true
    this.#sse?.stop()
    for (const live of this.#records.live.all) live.feed?.end()
  }

  close(reason: Error): void {
    this.endFeeds()
    this.#sse?.close(reason)
    for (const live of this.#records.live.all) this.#records.live.endHere(live, reason)
  }

  /** The handshake works on a record of its own, which is stored when it has gone well. */
  async #open(message: RequestMessage, inbound: Inbound): Promise<HttpAnswer> {
    const draft = new LiveSession(crypto.randomUUID(), {})
    const exchange = new HttpExchange({
      request: inbound.request,
      auth: inbound.auth,
      session: new HttpSession(draft, updateHere),
      endsWithClient: false,
    })
    const answer = await answerRequest(this.#host, message, exchange)
    if (answer === undefined) return silentAnswer()
    const { areKept } = this.#records
    const isDeaf = !areKept || this.#host.options.responses === 'json'
    const whole = answerText(answer, this.#host.report)
    const text = isDeaf ? withoutChanges(whole) : whole
    if ('error' in answer || !areKept) return jsonAnswer(text, this.statusOf(answer))
    await this.#records.create(draft.id, draft.state, inbound.auth)
    return jsonAnswer(text, 200, { [SESSION_HEADER]: draft.id })
  }

  #receive(arrived: Message | Item[], live: LiveSession, inbound: Inbound): Awaitable<HttpAnswer> {
    if (!Array.isArray(arrived)) return this.#receiveOne(arrived, live, inbound)
    if (live.state.revision !== BATCH_REVISION) return noBatches()
    return this.#receiveBatch(arrived, live, inbound)
  }

  #receiveOne(message: Message, live: LiveSession, inbound: Inbound): Awaitable<HttpAnswer> {
    if (!('method' in message)) return this.#records.live.answer(live, message).then(accepted)
    if (!('id' in message)) return this.#hear(message, live, inbound).then(accepted)
    const refused = this.#requestProblem(message, live)
    if (refused !== undefined) return refused
    const reply = new LazyReply(this.#host, inbound, this, live)
    return reply.answer(this.#answer(message, live, inbound, reply))
  }

  async #receiveBatch(items: Item[], live: LiveSession, inbound: Inbound): Promise<HttpAnswer> {
    const reply = new LazyReply(this.#host, inbound, this, live)
    const answers: Awaitable<ResponseMessage | undefined>[] = []
    for (const item of items) {
      if (item instanceof Refusal) answers.push(item.answer)
      else if (!('method' in item)) await this.#records.live.answer(live, item)
      else if (!('id' in item)) await this.#hear(item, live, inbound)
      else answers.push(this.#answerInBatch(item, live, inbound, reply))
    }
    if (answers.length === 0) return accepted()
    return reply.answer(Promise.all(answers).then((all) => all.filter((answer) => answer !== undefined)))
  }

  #answerInBatch(message: RequestMessage, live: LiveSession, inbound: Inbound, reply: LazyReply<LiveSession>) {
    if (live.running.has(message.id)) return errorMessage(message.id, inFlight())
    if (live.load >= this.#host.limits.sessionRequests) return errorMessage(message.id, this.#tooMany())
    return this.#answer(message, live, inbound, reply)
  }

  #requestProblem({ id }: RequestMessage, live: LiveSession): HttpAnswer | undefined {
    const { sessionRequests, sessionStreams } = this.#host.limits
    if (live.load > 0 && live.running.has(id)) return refusal(400, inFlight(), id)
    if (live.load >= sessionRequests) return refusal(429, this.#tooMany(), id)
    return live.readers >= sessionStreams ? tooManyStreams(sessionStreams, id) : undefined
  }

  #tooMany() {
    return tooManyRequests(this.#host.limits.sessionRequests)
  }

  openStream(reply: LazyReply<LiveSession>): MessageStream {
    const { owner, inbound } = reply
    // The stream is gone for good: nobody can answer what was asked on it.
    return this.#streams.openPost(owner, inbound, () => owner.asks.drop(unreachable('anything'), reply))
  }

  wholeStream(live: LiveSession, messages: readonly string[]): Awaitable<string> {
    return this.#streams.whole(live, messages)
  }

  /** Answers have no status of their own: a client of this era takes 404 for the end of its session. */
  statusOf(answer: ResponseMessage): number {
    return 'error' in answer && answer.error.code === ErrorCode.UnsupportedProtocolVersion ? 400 : 200
  }

  /** A stream that nothing is kept of would be lost for good. */
  mayLetGo(live: LiveSession): boolean {
    return this.#streams.keepsEventsOf(live)
  }

  #answer(
    message: RequestMessage,
    live: LiveSession,
    { request, auth }: Inbound,
    reply: LazyReply<LiveSession>,
  ): Awaitable<ResponseMessage | undefined> {
    const session = new HttpSession(live, this.#records.update, this.#records.areKept ? reply : undefined)
    const exchange = new HttpExchange({ request, auth, session, endsWithClient: false, speaker: reply })
    const answer = answerRequest(this.#host, message, exchange)
    return isPromise(answer) ? this.#answerLater(message, live, exchange, answer) : answer
  }

  #answerLater(
    { id }: RequestMessage,
    live: LiveSession,
    exchange: HttpExchange,
    answer: PromiseLike<ResponseMessage | undefined>,
  ): PromiseLike<ResponseMessage | undefined> {
    live.running.set(id, exchange)
    live.holders += 1
    this.#records.live.keep(live)
    return answer.then((settled) => {
      live.running.delete(id)
      this.#records.live.release(live)
      return settled
    })
  }

  async #hear(message: NotificationMessage, live: LiveSession, { request, auth }: Inbound): Promise<void> {
    if (await this.#records.live.relate(live, message)) return
    const session = new HttpSession(live, this.#records.update)
    const exchange = new HttpExchange({ request, auth, session, endsWithClient: false })
    await hearNotification(this.#host, message, exchange)
  }
}

/** Where nothing can be told unasked, nobody is to wait for it. */
function withoutChanges(answer: string): string {
  const message = JSON.parse(answer) as { result?: { capabilities?: Record<string, JsonObject | undefined> } }
  for (const name of ['tools', 'prompts', 'resources']) {
    const capability = message.result?.capabilities?.[name]
    if (capability === undefined) continue
    delete capability.listChanged
    delete capability.subscribe
  }
  return JSON.stringify(message)
}

function versionProblem({ request }: Inbound, arrived?: Message | Item[]): HttpAnswer | undefined {
  const version = request.header(VERSION_HEADER)
  if (version === null || (isRevision(version) && eraOf(version) === 'legacy')) return undefined
  return refusal(400, unsupportedVersion(version, REVISIONS), idOf(arrived))
}

/** The id of a request; nothing for what is none, or is more than one. */
function idOf(arrived: Message | Item[] | undefined): RequestId | undefined {
  return arrived !== undefined && 'method' in arrived && 'id' in arrived ? arrived.id : undefined
}
