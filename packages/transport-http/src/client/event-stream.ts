/** Reads the messages of an event stream, and keeps the place to go on from when it is cut. */

import { ConnectionError, type Decoded, decode } from '@mcpx/protocol'
import { createDecoder, SseError, type SseEvent } from '@mcpx/sse'
import type { Settings } from './options.ts'

/** Where a stream was left; the same one goes through all streams that carry it on. */
export interface Cursor {
  lastEventId?: string | undefined
  /** How long the server wants to be left alone before the next attempt, in ms. */
  retry?: number | undefined
  /** What cut the last one of them; nothing when the server ended it. */
  cut?: unknown
}

export interface StreamReader {
  readonly cursor: Cursor
  readonly onMessage: (item: Decoded) => void
  /** An event that is no message. Default: ignored. */
  readonly onOther?: ((event: SseEvent) => void) | undefined
  /** Nothing more is wanted once this fires. */
  readonly signal: AbortSignal
}

/**
 * Resolves when the stream has ended: with what cut it, if anything did. Rejects with `ConnectionError` `limit` when an
 * event is too large, and with what a callback throws.
 */
export async function readStream(body: Body['body'], settings: Settings, reader: StreamReader): Promise<unknown> {
  if (body === null) return undefined
  const { cursor, signal } = reader
  const source = body.getReader()
  const cancel = () => void source.cancel(signal.reason).catch(() => {})
  const silence = createSilence(settings.keepAlive, cancel)
  const decoder = createDecoder({
    maxEventSize: settings.maxEventSize,
    onRetry: (ms) => {
      cursor.retry = ms
    },
    onEvent: (event) => takeEvent(event, reader),
  })
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  try {
    for (;;) {
      const chunk = await nextChunk(source)
      if (!(chunk instanceof Uint8Array)) return chunk
      silence.broken()
      decoder.push(chunk)
    }
  } catch (error) {
    cancel()
    throw error instanceof SseError ? tooLarge(error) : error
  } finally {
    silence.end()
    signal.removeEventListener('abort', cancel)
  }
}

function takeEvent(event: SseEvent, { cursor, onMessage, onOther }: StreamReader): void {
  if (event.id !== undefined) cursor.lastEventId = event.id === '' ? undefined : event.id
  if ((event.event ?? 'message') !== 'message') onOther?.(event)
  else if (event.data !== '') onMessage(decode(event.data))
}

/** Bytes; nothing at the end; or what cut the stream. */
async function nextChunk(source: ReadableStreamDefaultReader<Uint8Array>): Promise<unknown> {
  try {
    return (await source.read()).value
  } catch (error) {
    return error
  }
}

/** Calls back once nothing was heard for this long. */
function createSilence(ms: number, onSilence: () => void) {
  if (ms > LONGEST) return { broken() {}, end() {} }
  let timer = setTimeout(onSilence, ms)
  return {
    broken() {
      clearTimeout(timer)
      timer = setTimeout(onSilence, ms)
    },
    end: () => clearTimeout(timer),
  }
}

/** The longest delay that timers take, in ms. */
const LONGEST = 2 ** 31 - 1

function tooLarge(cause: SseError): ConnectionError {
  const hint = 'Raise maxEventSize, or ask for less.'
  return new ConnectionError('limit', `An event of the server's stream was refused. ${cause.message}`, { hint, cause })
}
