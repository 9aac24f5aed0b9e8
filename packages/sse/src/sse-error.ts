/** The error of this package. */

/**
 * Why an `SseError` was thrown.
 *
 * - `invalid-event`, `invalid-id`, `invalid-retry`: the encoder got a field that cannot be written.
 * - `invalid-option`: `maxEventSize` is out of range.
 * - `event-too-large`: the stream has an event or a line above `maxEventSize`.
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
 * A field that cannot be sent, or a stream that cannot be read further. Test `reason`; `message` names the fault and
 * the remedy.
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
  /** Why the error was thrown. */
  readonly reason: SseErrorReason

  constructor(reason: SseErrorReason, message: string) {
    super(message)
    this.reason = reason
  }
}
