/** The keywords that apply several schemas to the same value. */

import { judgeForms } from '../alternatives.ts'
import type { Family, Maker, Node } from '../node.ts'
import { all, apart, type Check, type Finding, fail, merge, type Seen } from '../run.ts'
import { text } from './shapes.ts'

type Nodes = readonly Node[]

export const checkBy =
  (node: Node): Check =>
  (value, run, seen) =>
    node.test(value, run, seen)

const allOf: Maker<Nodes> = (nodes) => all(nodes.map(checkBy))

/** What a branch evaluates counts only when the value fits it. */
function isIn(node: Node, value: unknown, run: Parameters<Check>[1], seen: Seen, heard?: Finding[]): boolean {
  const branch: Seen = seen && new Set()
  const fits = apart(node, value, run, branch, heard)
  if (fits) merge(seen, branch)
  return fits
}

/** Forms of which a value must fit one, or exactly one. */
const forms =
  (exactly: boolean): Maker<Nodes> =>
  (nodes) =>
  (value, run, seen) => {
    const misfits: Finding[][] = []
    let fitting = 0
    for (const node of nodes) {
      const heard: Finding[] | undefined = run.told && []
      if (isIn(node, value, run, seen, heard)) fitting++
      else if (heard) misfits.push(heard)
      if (fitting > 0 && !exactly && !seen) return true
    }
    return fitting === 1 || (fitting > 1 && !exactly) || judgeForms(misfits, fitting, value, run)
  }

const sayNot = () => 'has a form that is not allowed'

const not: Maker<Node> = (node) => (value, run) => !apart(node, value, run) || fail(run, sayNot, 0, 0)

const condition: Maker<Node> = (node, keywords) => (value, run, seen) =>
  (isIn(node, value, run, seen) ? keywords.then : keywords.else)?.test(value, run, seen) ?? true

export const references: Family = {
  $ref: [text, allOf],
  $dynamicRef: [text],
  $recursiveRef: [text],
}

export const branches: Family = {
  not: ['one', not],
  anyOf: ['many', forms(false)],
  allOf: ['many', allOf],
  oneOf: ['many', forms(true)],
  if: ['one', condition],
  // biome-ignore lint/suspicious/noThenProperty: the keyword is called so
  then: ['one'],
  else: ['one'],
}
