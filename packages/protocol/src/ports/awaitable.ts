/** A value, or a promise of it: what needs no waiting is given at once. */

export type Awaitable<T> = T | PromiseLike<T>

export function isPromise<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as Partial<PromiseLike<T>>).then === 'function'
}
