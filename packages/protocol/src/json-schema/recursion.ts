/** Refuses schemas that apply themselves to the same value for ever, or too often in a row for the stack. */

import type { Node } from './node.ts'
import type { Reading } from './reading.ts'
import { refuse } from './schema-error.ts'

const keywordsInPlace = '$ref allOf anyOf oneOf not if then else dependentSchemas dependencies'.split(' ')

/** What a schema applies to the same value that it is applied to itself. */
function appliedBy({ keywords }: Node): Node[] {
  const held: readonly unknown[] = keywordsInPlace.flatMap((keyword) => keywords[keyword])
  // Members come with their names, and instead of a schema there may be a list of names.
  return held.flat(2).filter((one): one is Node => typeof one === 'object')
}

export function refuseRecursion({ options, nodes }: Reading): void {
  const { maxDepth } = options.limits
  /** How many schemas apply one another in a row, beginning with this one; 0 while that is being found out. */
  const heights = new Map<Node, number>()
  const measure = (node: Node, place: string, depth: number): number => {
    const known = heights.get(node)
    if (known === 0) {
      throw refuse('recursion', place, 'leads back to itself without going into the value, so checking would not end')
    }
    if (depth + (known ?? 1) > maxDepth) {
      throw refuse('limit', place, `more than ${maxDepth} schemas in a row apply to the same value (maxDepth)`)
    }
    if (known) return known
    heights.set(node, 0)
    const height = 1 + Math.max(0, ...appliedBy(node).map((next) => measure(next, place, depth + 1)))
    heights.set(node, height)
    return height
  }
  for (const [place, node] of nodes) measure(node, place, 0)
}
