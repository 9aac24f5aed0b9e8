/** The keywords about what no other keyword has evaluated. They run after all others, when that is known. */

import type { Family, Maker, Node } from '../node.ts'
import type { Check } from '../run.ts'
import { itemsBy } from './lists.ts'
import { membersBy, none } from './members.ts'

/** What it finds often only follows from other findings. */
const secondly =
  (check: Check): Check =>
  (value, run, seen) => {
    const { secondary } = run
    run.secondary = true
    const fits = check(value, run, seen)
    run.secondary = secondary
    return fits
  }

const unevaluatedItems: Maker<Node> = (rest) =>
  secondly(itemsBy((index, seen) => (seen?.has(index) ? undefined : rest)))

const unevaluatedProperties: Maker<Node> = (rest) =>
  secondly(membersBy((name, _, seen) => (seen?.has(name) ? none : [rest])))

export const unevaluated: Family = {
  unevaluatedItems: ['one', unevaluatedItems, '2020-12'],
  unevaluatedProperties: ['one', unevaluatedProperties, '2020-12'],
}
