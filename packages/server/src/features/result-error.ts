/** What a handler gave back and cannot be sent. */

import { kindOf } from '@mcpx/protocol'
import { isObject } from './subschemas.ts'

/** A fault of the server's author, so clients never see its message: such as a tool's result that does not fit its `output`. */
export class ResultError extends Error {
  override readonly name = 'ResultError'
}

interface ToJson {
  readonly toJSON?: (key: string) => unknown
}

/** The result, as JSON would have it, before anything is put on it. Throws a `ResultError` for what is none of any method. */
export function toResult(method: string, given: unknown): object {
  const write = (given as ToJson | null | undefined)?.toJSON
  const result = typeof write === 'function' ? write.call(given, 'result') : given
  if (isObject(result)) return result
  throw new ResultError(`The handler gave ${kindOf(result)} as the result of ${method}; expected an object`)
}
