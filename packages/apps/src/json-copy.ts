/** Copies messages of views. A view may send any value that browsers can clone, not only JSON. */

import { isObject } from '@mcpx/protocol'

/** The deepest nesting of a message. */
const MAX_DEPTH = 64

/**
 * Returns a copy of a JSON value, without members named `__proto__`. Returns undefined for other values. Stops and
 * returns undefined after `limit` characters.
 */
export function copyJson(value: unknown, limit: number): unknown {
  let left = limit
  const spend = (size: number) => {
    left -= size
    return left >= 0
  }
  const copy = (each: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) return undefined
    if (typeof each === 'string') return spend(each.length + 2) ? each : undefined
    if (each === null || typeof each === 'boolean' || Number.isFinite(each)) return spend(4) ? each : undefined
    if (Array.isArray(each)) {
      const items: unknown[] = []
      for (let at = 0; at < each.length; at += 1) {
        const item = copy(each[at], depth + 1)
        if (item === undefined) return undefined
        items.push(item)
      }
      return spend(2) ? items : undefined
    }
    if (!isObject(each) || Object.prototype.toString.call(each) !== '[object Object]') return undefined
    const members: Record<string, unknown> = {}
    for (const name of Object.keys(each)) {
      const source = (each as Record<string, unknown>)[name]
      if (name === '__proto__' || source === undefined) continue
      const member = spend(name.length + 4) ? copy(source, depth + 1) : undefined
      if (member === undefined) return undefined
      members[name] = member
    }
    return spend(2) ? members : undefined
  }
  return copy(value, 0)
}
