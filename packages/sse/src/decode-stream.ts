/** The decoder as a pair of web streams, bytes in and events out, for `pipeThrough`. */

import { createDecoder, type Decoder, type DecoderOptions, type SseEvent } from './decode.ts'

/** The decoder's options; events come out of the stream. */
export interface DecodeStreamOptions extends Omit<DecoderOptions, 'onEvent'> {
  /** Called once if the bytes end inside an event, which is then dropped. Default: dropped in silence. */
  readonly onIncomplete?: (() => void) | undefined
}

/**
 * Decodes a stream of bytes. A chunk is read only when an event is asked for and none is waiting. All events before a
 * broken one come out before the error, and the error also cancels the source.
 *
 * The result has the two ends of a `TransformStream` and is no instance of it: erroring a real one throws away the
 * events that were decoded and not read yet.
 *
 * @throws SseError `invalid-option`; the readable end fails with `event-too-large`.
 * @example
 * ```ts
 * const response = await fetch(url)
 * for await (const event of response.body.pipeThrough(decodeStream())) console.log(event.data)
 * ```
 */
export function decodeStream(options: DecodeStreamOptions = {}): TransformStream<Uint8Array, SseEvent> {
  const bytes = new TransformStream<Uint8Array, Uint8Array>()
  const reader = bytes.readable.getReader()
  let { onIncomplete } = options
  let decoder: Decoder
  let delivered: boolean
  let failure: [unknown] | undefined
  const readable = new ReadableStream<SseEvent>(
    {
      start(controller) {
        decoder = createDecoder({
          ...options,
          onEvent(event) {
            delivered = true
            controller.enqueue(event)
          },
        })
      },
      // With a high water mark of 0 this runs only when the queue is empty and a read is waiting.
      async pull(controller) {
        for (delivered = false; !delivered; ) {
          if (failure) throw failure[0]
          const { done, value } = await reader.read()
          if (done) {
            if (decoder.end().incomplete) onIncomplete?.()
            return controller.close()
          }
          try {
            decoder.push(value)
          } catch (error) {
            failure = [error]
            await reader.cancel(error)
          }
        }
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
