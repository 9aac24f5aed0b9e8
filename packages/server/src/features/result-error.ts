/** What a handler gave back and cannot be sent. */

/** A fault of the server's author, so clients never see its message: a tool's result does not fit its `output`. */
export class ResultError extends Error {
  override readonly name = 'ResultError'
}
