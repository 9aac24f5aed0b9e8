/** Reads the messages of an SSE stream, and stores the position at which the connection broke. */

import { abortable, ConnectionError, decode, LONGEST_TIMER, type Message, type Refusal } from '@mcpx/protocol'
import { createDecoder, SseError, type SseEvent } from '@mcpx/sse'
import type { Settings } from './options.ts'

/** The position to resume from. A stream and the streams that resume it share one cursor. */
export interface Cursor {
  lastEventId?: string | undefined
  /** The delay before the next attempt that the server requests, in ms. */
  retry?: number | undefined
  /** The error that broke the last stream. Undefined if the server ended it. */
  cut?: unknown
}

export interface EventReader {
  readonly cursor: Cursor
  /** Called with each message, including messages in an array. */
  readonly onMessage: (message: Message | Refusal) => void
  /** Called with events of other types. Default: ignored. */
  readonly onOther?: (event: SseEvent) => void
  /** Ends the stream. */
  readonly signal: AbortSignal
}

/**
 * Resolves when the stream has ended or is broken; `cursor.cut` shows the difference. Rejects with `ConnectionError`
 * (reason `limit`) if an event is too large, or with the error of a callback.
 */
export async function readEvents(response: Response, settings: Settings, reader: EventReader): Promise<void> {
  const { cursor, signal } = reader
  cursor.cut = undefined
  if (response.body === null) return
  const source = response.body.getReader()
  const cancel = () => void source.cancel(signal.reason).catch(() => {})
  let silence: ReturnType<typeof setTimeout> | undefined
  const restartSilence = () => {
    clearTimeout(silence)
    if (settings.keepAlive <= LONGEST_TIMER) silence = setTimeout(cancel, settings.keepAlive)
  }
  const decoder = createDecoder({
    maxEventSize: settings.maxEventSize,
    onRetry: (ms) => {
      cursor.retry = ms
    },
    onEvent: (event) => handleEvent(event, settings, reader),
  })
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  try {
    for (;;) {
      restartSilence()
      const chunk = await readChunk(source, cursor)
      clearTimeout(silence)
      if (chunk === undefined) return
      decoder.push(chunk)
      // The server does not accept the responses to its requests as fast as it sends requests.
      if (settings.unsent?.room !== undefined) await abortable(settings.unsent.room, signal).catch(() => {})
    }
  } catch (error) {
    cancel()
    throw error instanceof SseError ? eventSizeError(error) : error
  } finally {
    clearTimeout(silence)
    signal.removeEventListener('abort', cancel)
  }
}

/** Decodes received JSON: one message, or the messages of a batch. */
export function decodeReceived(text: string, { onMessage }: Settings): (Message | Refusal)[] {
  const decoded = decode(text)
  onMessage?.('in', decoded)
  return [decoded].flat()
}

function handleEvent(event: SseEvent, settings: Settings, { cursor, onMessage, onOther }: EventReader): void {
  if (event.id !== undefined) cursor.lastEventId = event.id === '' ? undefined : event.id
  if ((event.event ?? 'message') !== 'message') onOther?.(event)
  else if (event.data !== '') for (const message of decodeReceived(event.data, settings)) onMessage(message)
}

/** Returns the next chunk, or undefined if the stream has ended or is broken. */
async function readChunk(
  source: ReadableStreamDefaultReader<Uint8Array>,
  cursor: Cursor,
): Promise<Uint8Array | undefined> {
  try {
    return (await source.read()).value
  } catch (error) {
    cursor.cut = error
    return undefined
  }
}

function eventSizeError(cause: SseError): ConnectionError {
  const hint = 'Raise maxEventSize, or request less data.'
  return new ConnectionError('limit', `An event of the server's stream was refused. ${cause.message}`, { hint, cause })
}
