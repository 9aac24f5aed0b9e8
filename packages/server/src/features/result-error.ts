/** What a handler gave back and cannot be sent. */

/** A fault of the server's author, so clients never see its message: such as a tool's result that does not fit its `output`. */
export class ResultError extends Error {
  override readonly name = 'ResultError'
}
