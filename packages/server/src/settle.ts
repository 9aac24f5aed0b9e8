/** Goes on with a value or a failure, at once where there is nothing to wait for. */

import { type Awaitable, isPromise } from '@mcpx/protocol'

export function settle<Value, Result>(
  run: () => Awaitable<Value>,
  onValue: (value: Value) => Awaitable<Result>,
  onFailure: (error: unknown) => Awaitable<Result>,
): Awaitable<Result> {
  try {
    const value = run()
    if (isPromise(value)) return value.then(onValue).then(undefined, onFailure)
    const result = onValue(value)
    return isPromise(result) ? result.then(undefined, onFailure) : result
  } catch (error) {
    return onFailure(error)
  }
}

/** Goes on with a value; a failure goes its own way. */
export function whenDone<Value, Result>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return isPromise(value) ? value.then(next) : next(value)
}
