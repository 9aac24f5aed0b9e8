/** The decoder as a pair of web streams for `pipeThrough`: bytes in, events out. */

import { createDecoder, type DecoderOptions, type SseEvent } from './decode.ts'

/** Options of the decoder. Events come out of the stream instead of `onEvent`. */
export interface DecodeStreamOptions extends Omit<DecoderOptions, 'onEvent'> {
  /** Called once when the bytes end inside an event. That event is dropped. Default: none. */
  readonly onIncomplete?: (() => void) | undefined
}

/**
 * Decodes a stream of bytes. It reads a chunk only when an event is requested and none is queued. Events before an
 * invalid one are delivered before the error. The error also cancels the source.
 *
 * The result has the two ends of a `TransformStream` but is not an instance of it: a `TransformStream` that errors
 * drops its queued events.
 *
 * @throws SseError `invalid-option`. The readable end fails with `event-too-large`.
 * @example
 * ```ts
 * const response = await fetch(url)
 * for await (const event of response.body.pipeThrough(decodeStream())) console.log(event.data)
 * ```
 */
export function decodeStream(options: DecodeStreamOptions = {}): TransformStream<Uint8Array, SseEvent> {
  const events: SseEvent[] = []
  const decoder = createDecoder({ ...options, onEvent: (event) => events.push(event) })
  const bytes = new TransformStream<Uint8Array, Uint8Array>()
  const reader = bytes.readable.getReader()
  let { onIncomplete } = options
  let failure: { error: unknown } | undefined
  const readable = new ReadableStream<SseEvent>(
    {
      // With a high water mark of 0, `pull` runs only when the queue is empty and a read is pending.
      async pull(controller) {
        while (events.length === 0) {
          if (failure) throw failure.error
          const { done, value } = await reader.read()
          if (done) {
            if (decoder.end().incomplete) onIncomplete?.()
            return controller.close()
          }
          try {
            decoder.push(value)
          } catch (error) {
            failure = { error }
            await reader.cancel(error)
          }
        }
        for (const event of events.splice(0)) controller.enqueue(event)
      },
      cancel(reason) {
        onIncomplete = undefined
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return { readable, writable: bytes.writable }
}
