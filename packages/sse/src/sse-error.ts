/** The one error this package throws on purpose: a value that cannot be sent, or a stream that must not be read on. */

/**
 * What went wrong.
 *
 * - `invalid-event`, `invalid-id`, `invalid-retry`: the encoder was given a field that cannot be written.
 * - `invalid-option`: `maxEventSize` is not a number the decoder can keep to.
 * - `event-too-large`: the stream has an event, or a single line, above `maxEventSize`.
 * - `decoder-closed`: input after `end()` or after an error.
 * - `decoder-busy`: `push()` was called from inside one of the decoder's own callbacks.
 */
export type SseErrorReason =
  | 'invalid-event'
  | 'invalid-id'
  | 'invalid-retry'
  | 'invalid-option'
  | 'event-too-large'
  | 'decoder-closed'
  | 'decoder-busy'

/**
 * Branch on `reason`; `message` says what was wrong and what to do about it.
 *
 * @example
 * ```ts
 * try {
 *   encodeEvent({ id: 'a\nb', data: 'x' })
 * } catch (error) {
 *   if (error instanceof SseError) console.log(error.reason) // invalid-id
 * }
 * ```
 */
export class SseError extends Error {
  override readonly name = 'SseError'
  readonly reason: SseErrorReason

  constructor(reason: SseErrorReason, message: string) {
    super(message)
    this.reason = reason
  }
}
