/** The keywords for arrays. */

import {
  type Check,
  checkMember,
  checkSeparately,
  type EvaluatedKeys,
  failWith,
  spendSteps,
  testEach,
} from '../evaluate.ts'
import { isArray, isContainer } from '../json.ts'
import {
  type CheckBuilder,
  type KeywordDefinition,
  type KeywordGroup,
  limitSize,
  type SchemaNode,
  sizeRule,
} from '../keyword.ts'
import { formatCount } from '../messages.ts'
import { ValueSet } from '../value-set.ts'
import { markSecondary } from './objects.ts'
import { canonicalize } from './values.ts'

/** Checks each item with the schema for its index. */
const checkItems =
  (nodeFor: (index: number, evaluated: EvaluatedKeys) => SchemaNode | undefined): Check =>
  (value, evaluation, evaluated) =>
    !isArray(value) ||
    testEach(value, evaluation, (item, index) => {
      const node = nodeFor(index, evaluated)
      if (!node) return true
      evaluated?.add(index)
      return checkMember(node, item, index, evaluation)
    })

/** Builds the check of `prefixItems` and `items`. In draft-07, these are `items` as a list, and `additionalItems`. */
const buildItems: CheckBuilder<unknown> = (_, { prefixItems = [], items, additionalItems }) => {
  const [first, rest] = isArray(items) ? [items, additionalItems] : [prefixItems, items as SchemaNode | undefined]
  return checkItems((index) => first[index] ?? rest)
}

const describeContains = (bound: string, limit: number) =>
  `expected at ${bound} ${formatCount(limit, 'item')} matching contains`

const describeNone = () => `${describeContains('least', 1)}, got none`

const buildContains: CheckBuilder<SchemaNode> = (node, { minContains, maxContains = Number.POSITIVE_INFINITY }) => {
  const describe = minContains === undefined ? describeNone : describeContains
  const minimum = minContains ?? 1
  return (value, evaluation, evaluated) => {
    if (!isArray(value)) return true
    let matches = 0
    let certainMatches = 0
    testEach(value, evaluation, (item, index) => {
      const { skippedPatterns } = evaluation
      if (checkSeparately(node, item, evaluation)) {
        matches++
        if (evaluation.skippedPatterns === skippedPatterns) certainMatches++
        evaluated?.add(index)
      }
      return true
    })
    if (matches < minimum) return failWith(evaluation, describe, 'least', minimum)
    return certainMatches <= maxContains || failWith(evaluation, describeContains, 'most', maxContains)
  }
}

const describeDuplicate = () => 'expected unique items'

const buildUniqueItems: CheckBuilder<boolean> = (mustBeUnique) => (value, evaluation) => {
  if (!mustBeUnique || !isArray(value)) return true
  spendSteps(evaluation, value.length * 2)
  const scalars = value.filter((item) => !isContainer(item))
  const containers = value.filter(isContainer).map((item) => canonicalize(item, evaluation))
  const size = new ValueSet(scalars, evaluation).size + new ValueSet(containers, evaluation).size
  return size === value.length || failWith(evaluation, describeDuplicate, 0, 0)
}

const lengthOf = (value: readonly unknown[]) => value.length

export const arrayKeywords: KeywordGroup = {
  uniqueItems: {
    holds: { expected: 'true or false', accepts: (value) => typeof value === 'boolean' },
    build: buildUniqueItems,
  },
  maxItems: { holds: sizeRule, build: limitSize('most', isArray, lengthOf, 'item') },
  minItems: { holds: sizeRule, build: limitSize('least', isArray, lengthOf, 'item') },
  prefixItems: { holds: 'list', build: buildItems, dialect: '2020-12' },
  items: {
    holds: 'schema',
    build: (node, keywords, options) => (keywords.prefixItems ? undefined : buildItems(node, keywords, options)),
  },
  additionalItems: { holds: 'schema', dialect: 'draft-07' },
  contains: { holds: 'schema', build: buildContains },
  minContains: { holds: sizeRule, dialect: '2020-12' },
  maxContains: { holds: sizeRule, dialect: '2020-12' },
}

export const unevaluatedItems: KeywordDefinition = {
  holds: 'schema',
  build: (node: SchemaNode) =>
    markSecondary(checkItems((index, evaluated) => (evaluated?.has(index) ? undefined : node))),
  dialect: '2020-12',
}
