/** One client's relation to one server: requests that wait, and what the server says unasked. HTTP itself keeps none. */

import {
  type Connection,
  ConnectionError,
  type ConnectOptions,
  type Exchange,
  type JsonObject,
  type NotificationMessage,
} from '@mcpx/protocol'
import { type Asking, createAsking } from './asking.ts'
import { createCarrier } from './carrier.ts'
import { createWires } from './eras/select.ts'
import type { Fetch, Settings } from './options.ts'

/** How many notifications of the server may be dealt with at once. */
const MOST_HEARD = 10_000

export function createConnection(settings: Settings, { responder, report }: ConnectOptions): Connection {
  const closing = new AbortController()
  const asking = createAsking((message) => wires.of(message), report)
  /** The way back for what the server tells: none but that of the connection. */
  const exchange: Exchange = {
    signal: closing.signal,
    auth: undefined,
    session: undefined,
    requestInfo: undefined,
    notify,
  }
  let heard = 0
  const end = createEnding(async (reason, grace) => {
    asking.stop(reason, grace)
    closing.abort(reason)
    await Promise.all(wires.all.map((wire) => wire.close?.()))
  })
  const wires = createWires({
    ...asking,
    settings,
    carry: createCarrier({ ...settings, fetch: authorized(settings, asking) }),
    closing: closing.signal,
    responder,
    notify,
    pass: (message) => void hear(message),
    report,
    end: (reason, grace) => void end.now(reason, grace),
  })

  async function hear(message: NotificationMessage): Promise<void> {
    if (heard >= MOST_HEARD) {
      report(new ConnectionError('limit', `${message.method} was dropped: ${MOST_HEARD} are dealt with already`))
      return
    }
    heard += 1
    try {
      await responder?.respond(message, exchange)
    } catch (error) {
      report(error as Error)
    }
    heard -= 1
  }

  async function notify(method: string, params?: object): Promise<void> {
    if (closing.signal.aborted) return
    const message: NotificationMessage =
      params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params: params as JsonObject }
    await wires.of(message).tell(message, closing.signal)
  }

  return {
    request: asking.request,
    notify,
    close: (reason) => end.now(reason),
    closed: end.done,
    get tellsApart() {
      return !wires.all.some((wire) => wire.hasOneStream)
    },
    negotiated(revision, onMissed) {
      for (const wire of wires.all) wire.negotiated?.(revision, onMissed)
    },
  }
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
