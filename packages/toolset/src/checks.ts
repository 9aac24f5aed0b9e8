/** Checks of the arguments that users of this package pass. The errors name the function and the option. */
import { isObject } from './schemas/json.ts'

/** Throws for an unknown option, because a misspelled option would have no effect. */
export function checkOptions(place: string, options: unknown, names: readonly string[]): void {
  if (!isObject(options)) throw new TypeError(`${place}: expected an object of options, got ${describe(options)}`)
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const name = JSON.stringify(unknown)
  throw new TypeError(`${place}: there is no option ${name}; expected one of ${names.join(', ')}`)
}

/** Throws for a limit that is not a number from 0. */
export function checkLimit(place: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0) return
  throw new RangeError(`${place}: expected a number from 0, got ${String(value)}`)
}

export function checkFunction(place: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${place}: expected a function, got ${describe(value)}`)
}

/** @param remedy what to pass instead */
export function checkArray(place: string, value: unknown, remedy?: string): void {
  if (Array.isArray(value)) return
  const hint = remedy === undefined ? '' : `; ${remedy}`
  throw new TypeError(`${place}: expected array, got ${describe(value)}${hint}`)
}

/** Throws for a value without the method `listTools`, such as a client that was not awaited. */
export function checkSource(source: unknown): void {
  if (isObject(source) && typeof source.listTools === 'function') return
  const remedy = 'write createToolset(await connect(…))'
  throw new TypeError(`createToolset: expected a connected client, got ${describe(source)}; ${remedy}`)
}

/** Throws for a value that is not a toolset, such as a client, or a toolset that was not awaited. */
export function checkToolset(place: string, toolset: unknown): void {
  if (isObject(toolset) && toolset.tools instanceof Map) return
  const remedy = `write ${place}(await createToolset(client))`
  throw new TypeError(`${place}: expected a toolset, got ${describe(toolset)}; ${remedy}`)
}

/** Returns the kind of a value in plain words. */
export function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise'
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
