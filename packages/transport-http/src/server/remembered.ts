/** Reads what is the same from request to request once. */

/** Clients say the same with each request: what was made of the last value is not made again. */
export function remembered<T>(read: (value: string) => T): (value: string) => T {
  let last: string | undefined
  let made: T
  return (value) => {
    if (value !== last) {
      made = read(value)
      last = value
    }
    return made
  }
}
