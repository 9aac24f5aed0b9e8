/** The error of this package. */

/**
 * The reason of an `SseError`.
 *
 * - `invalid-event`, `invalid-id`, `invalid-retry`: a field cannot be encoded.
 * - `invalid-option`: `maxEventSize` is out of range.
 * - `event-too-large`: an event or a line exceeds `maxEventSize`.
 * - `decoder-closed`: `push()` was called after `end()` or after an error.
 * - `decoder-busy`: `push()` was called inside a callback of the decoder.
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
 * A field cannot be encoded, or a stream cannot be decoded. Check `reason` in code; `message` names the problem and the
 * remedy.
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
  /** The reason of the error. */
  readonly reason: SseErrorReason

  constructor(reason: SseErrorReason, message: string) {
    super(message)
    this.reason = reason
  }
}
