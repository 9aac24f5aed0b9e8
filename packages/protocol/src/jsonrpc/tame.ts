/** Bounds on a parsed value: how deep, how many; and members named `__proto__` are dropped. */

export interface ValueLimits {
  /** How deep objects and arrays may nest. */
  maxDepth: number
  /** How many members and items a message may hold in all. */
  maxValues: number
}

/**
 * Walks a value once and returns what is wrong with it, if anything. A member named `__proto__` is removed:
 * as parsed it is harmless, but user code that copies it with `Object.assign` would swap a prototype.
 */
export function tame(value: unknown, limits: ValueLimits): string | undefined {
  let left = limits.maxValues
  function walk(node: object, depth: number): string | undefined {
    if (depth > limits.maxDepth) return `nested deeper than ${limits.maxDepth} levels`
    if (Array.isArray(node)) {
      left -= node.length
      if (left < 0) return `more than ${limits.maxValues} values`
      for (const item of node) {
        const problem = typeof item === 'object' && item !== null ? walk(item, depth + 1) : undefined
        if (problem !== undefined) return problem
      }
      return undefined
    }
    // What was parsed inherits nothing: all that is found is its own.
    for (const key in node) {
      if (--left < 0) return `more than ${limits.maxValues} values`
      if (key === '__proto__') {
        delete (node as Record<string, unknown>)[key]
        continue
      }
      const member = (node as Record<string, unknown>)[key]
      const problem = typeof member === 'object' && member !== null ? walk(member, depth + 1) : undefined
      if (problem !== undefined) return problem
    }
    return undefined
  }
  return typeof value === 'object' && value !== null ? walk(value, 1) : undefined
}
