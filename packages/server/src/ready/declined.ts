/** Which results say that nobody approved a call, so that they can be told from those of tools that failed. */

const declined = new WeakSet<object>()

export function markDeclined<Result extends object>(result: Result): Result {
  declined.add(result)
  return result
}

export function isDeclined(result: object): boolean {
  return declined.has(result)
}
