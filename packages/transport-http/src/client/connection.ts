/** One client's relation to one server: requests that wait, and what the server says unasked. HTTP itself keeps none. */

import {
  type Connection,
  ConnectionError,
  type ConnectOptions,
  createAnswering,
  createRunningRequests,
  type JsonObject,
  type Message,
  type RequestId,
  type RequestMessage,
} from '@mcpx/protocol'
import { type Asking, createAsking } from './asking.ts'
import { createCarrier } from './carrier.ts'
import { createWires } from './eras/select.ts'
import type { Fetch, Settings } from './options.ts'

/** How many requests and notifications of the server may be dealt with at once. */
const MOST_RUNNING = 10_000

export function createConnection(settings: Settings, { responder, report }: ConnectOptions): Connection {
  const closing = new AbortController()
  const running = createRunningRequests()
  const asking = createAsking((message) => wires.of(message), report)
  const { hold, optionsOf } = asking
  const host = { auth: undefined, requestInfo: undefined, session: undefined, notify, hold, optionsOf }
  const answering = createAnswering({ responder, running, host, limit: MOST_RUNNING, onHeard() {}, report })
  const end = createEnding(async (reason, grace) => {
    asking.stop(reason, grace)
    running.abortAll(reason)
    closing.abort(reason)
    await Promise.all(wires.all.map((wire) => wire.close?.()))
  })
  const wires = createWires({
    ...asking,
    settings,
    carry: createCarrier({ ...settings, fetch: authorized(settings, asking) }),
    closing: closing.signal,
    pass(message, during) {
      if ('id' in message) void answer(message, during)
      else answering.hear(message)
    },
    giveUp: (id, reason) => void running.abort(id, reason),
    report,
    end: (reason, grace) => void end.now(reason, grace),
  })

  function tell(message: Exclude<Message, RequestMessage>): Promise<void> {
    return wires.of(message).tell(message, closing.signal)
  }

  /** A question ends with the request that it is about: on the stream of that nobody could take it back any more. */
  async function answer(message: RequestMessage, during: RequestId | undefined): Promise<void> {
    const over = during === undefined ? undefined : asking.endOf(during)
    const giveUp = () => void running.abort(message.id, pointless())
    over?.addEventListener('abort', giveUp)
    try {
      const response = await answering.answer(message, during)
      if (response !== undefined) await tell(response)
    } catch (error) {
      if (!closing.signal.aborted) report(error as Error)
    } finally {
      over?.removeEventListener('abort', giveUp)
    }
  }

  async function notify(method: string, params?: object): Promise<void> {
    if (closing.signal.aborted) return
    await tell(
      params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params: params as JsonObject },
    )
  }

  return {
    request: asking.request,
    notify,
    close: (reason) => end.now(reason),
    closed: end.done,
    get tellsApart() {
      return !wires.all.some((wire) => wire.hasOneStream)
    },
    negotiated(revision) {
      for (const wire of wires.all) wire.negotiated?.(revision)
    },
  }
}

function pointless(): ConnectionError {
  return new ConnectionError('cancelled', 'The request that the question is about was given up')
}

/** Proves who is asking, if there is anything to prove it with. */
function authorized({ fetch, auth, url }: Settings, { holdSentWith: hold }: Asking): Fetch {
  return auth === undefined ? fetch : auth(fetch, { url, hold })
}

/** Ends once, for the first reason given. */
function createEnding(run: (reason: ConnectionError, grace: number | undefined) => Promise<void>) {
  let ending: Promise<void> | undefined
  let resolve: (reason: ConnectionError | undefined) => void = () => {}
  const done = new Promise<ConnectionError | undefined>((settle) => {
    resolve = settle
  })
  async function end(reason: ConnectionError | undefined, grace: number | undefined): Promise<void> {
    await run(reason ?? new ConnectionError('closed', 'The connection was closed'), grace)
    resolve(reason)
  }
  return {
    done,
    now(reason?: ConnectionError, grace?: number): Promise<void> {
      ending ??= end(reason, grace)
      return ending
    },
  }
}
