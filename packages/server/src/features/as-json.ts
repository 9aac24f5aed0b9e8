/** Whether a value is what becomes of it as JSON. */

/** What is deeper, or goes in circles, is looked at as JSON: that has bounds of its own. */
const DEEPEST = 500

interface Holder extends Readonly<Record<string, unknown>> {
  readonly toJSON?: unknown
}

/**
 * Whether JSON writes it as it is. A member that is `undefined` is one that is not there. False, too, for what may be
 * so but would take long to tell, such as objects of a class.
 */
export function isAsJson(value: unknown, room: number = DEEPEST): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean'
  if (value === null) return true
  if (room === 0 || typeof (value as Holder).toJSON === 'function') return false
  if (Array.isArray(value)) {
    for (const item of value) if (!isAsJson(item, room - 1)) return false
    return true
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  for (const key in value) {
    const member = (value as Holder)[key]
    if (member !== undefined && !isAsJson(member, room - 1)) return false
  }
  return true
}
