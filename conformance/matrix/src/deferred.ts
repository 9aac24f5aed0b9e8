/** A promise with its resolve function. */

export interface Deferred<Value> {
  readonly promise: Promise<Value>
  resolve(value: Value): void
}

export function deferred<Value = void>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((resolvePromise) => {
    resolve = resolvePromise
  })
  return { promise, resolve }
}
