/** The keywords that are about lists. */

import type { Family, Keywords, Maker, Node } from '../node.ts'
import { apart, type Check, enter, every, fail, type Seen, spend } from '../run.ts'
import { count } from '../words.ts'
import { sized } from './assertions.ts'
import { size } from './shapes.ts'
import { isNested, textOf } from './values.ts'

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

/** Takes each item to its check, if there is one. */
export const itemsBy =
  (nodeFor: (index: number, seen: Seen) => Node | undefined): Check =>
  (value, run, seen) =>
    !isList(value) ||
    every(value, run, (item, index) => {
      const node = nodeFor(index, seen)
      if (!node) return true
      seen?.add(index)
      return enter(node, item, index, run)
    })

/** In draft-07, `items` may be a list, and `additionalItems` are the others. */
const items: Maker<unknown> = (_, { prefixItems = [], items, additionalItems }: Keywords) => {
  const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items as Node | undefined]
  return itemsBy((index) => first[index] ?? rest)
}

const sayContains = (bound: string, limit: number) => `expected at ${bound} ${count(limit, 'item')} of a certain form`
const sayNone = () => `${sayContains('least', 1)}, got none`

const contains: Maker<Node> = (node, { minContains, maxContains = Number.POSITIVE_INFINITY }) => {
  const say = minContains === undefined ? sayNone : sayContains
  const least = minContains ?? 1
  return (value, run, seen) => {
    if (!isList(value)) return true
    let found = 0
    every(value, run, (item, index) => {
      if (apart(node, item, run)) {
        found++
        seen?.add(index)
      }
      return true
    })
    if (found < least) return fail(run, say, 'least', least)
    return found <= maxContains || fail(run, sayContains, 'most', maxContains)
  }
}

const sayTwice = () => 'expected no item twice'

const uniqueItems: Maker<boolean> = (wanted) => (value, run) => {
  if (!wanted || !isList(value)) return true
  spend(run, value.length * 2)
  const plain = value.filter((item) => !isNested(item))
  const texts = value.filter(isNested).map((item) => textOf(item, run))
  return new Set(plain).size + new Set(texts).size === value.length || fail(run, sayTwice, 0, 0)
}

const lengthOf = (value: readonly unknown[]) => value.length

export const lists: Family = {
  uniqueItems: [['true or false', (value) => typeof value === 'boolean'], uniqueItems],
  maxItems: [size, sized('most', isList, lengthOf, 'item')],
  minItems: [size, sized('least', isList, lengthOf, 'item')],
  prefixItems: ['many', items, '2020-12'],
  items: ['one', (_, keywords, options) => (keywords.prefixItems ? undefined : items(_, keywords, options))],
  additionalItems: ['one', undefined, 'draft-07'],
  contains: ['one', contains],
  minContains: [size, undefined, '2020-12'],
  maxContains: [size, undefined, '2020-12'],
}
