/** The decoder as a pair of web streams for `pipeThrough`, from bytes to events. */

import { createDecoder, type DecoderOptions, type SseEvent } from './decode.ts'

/** Options of `decodeStream`. The readable stream delivers the events, so there is no `onEvent`. */
export interface DecodeStreamOptions extends Omit<DecoderOptions, 'onEvent'> {
  /** Called once if the input ends inside an event. This event is dropped. Default: none. */
  readonly onIncomplete?: (() => void) | undefined
}

/**
 * Decodes a stream of bytes. It reads a chunk only if an event is requested and no event is queued. Events before an
 * invalid event are delivered before the error. The error also cancels the source.
 *
 * The result has both streams of a `TransformStream` but is not an instance of it, because a `TransformStream` drops
 * its queued events when it fails.
 *
 * @throws SseError `invalid-option`. The readable stream fails with `event-too-large`.
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
      // Use a high water mark of 0, so that `pull` runs only if the queue is empty and a read is pending.
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
