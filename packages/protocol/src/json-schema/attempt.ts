/** Tells by `undefined` what built-in functions tell by throwing. */

export function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
