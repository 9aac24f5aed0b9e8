/** What a handler gave back and cannot be sent. */

import { kindOf } from '@mcpx/protocol'

/** A fault of the server's author, so clients never see its message: such as a tool's result that does not fit its `output`. */
export class ResultError extends Error {
  override readonly name = 'ResultError'
}

/** Throws a `ResultError` for what is no result of any method. */
export function expectResult(method: string, result: unknown): void {
  if (typeof result === 'object' && result !== null) return
  throw new ResultError(`The handler gave ${kindOf(result)} as the result of ${method}; expected an object`)
}
