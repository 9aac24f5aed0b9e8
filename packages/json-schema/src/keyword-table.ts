/** The table of all keywords, and the check of a schema, which combines the checks of its keywords. */

import { addEvaluatedKeys, type Check, combineChecks, type EvaluatedKeys, spendSteps } from './evaluate.ts'
import { type CompileOptions, type KeywordDefinition, type KeywordGroup, type Keywords, stringRule } from './keyword.ts'
import { arrayKeywords, unevaluatedItems } from './keywords/arrays.ts'
import { combiningKeywords, referenceKeywords } from './keywords/combining.ts'
import { objectKeywords, unevaluatedProperties } from './keywords/objects.ts'
import { assertJson, numberKeywords, stringKeywords, valueKeywords } from './keywords/values.ts'

const anchor: KeywordDefinition = {
  holds: {
    expected: 'a name of letters, digits, ".", "-" and "_"',
    accepts: (value) => typeof value === 'string' && /^[a-z_][-\w.]*$/i.test(value),
  },
  dialect: '2020-12',
}

const definitionKeywords: KeywordGroup = {
  $id: { holds: stringRule },
  $anchor: anchor,
  $dynamicAnchor: anchor,
  $defs: { holds: 'map' },
  definitions: { holds: 'map' },
}

/** All keywords, in the order of findings. The `unevaluated` keywords are last, because they depend on all others. */
const keywordTable = new Map<string, KeywordDefinition>(
  Object.entries({
    ...definitionKeywords,
    ...referenceKeywords,
    ...valueKeywords,
    ...combiningKeywords,
    ...objectKeywords,
    ...arrayKeywords,
    ...numberKeywords,
    ...stringKeywords,
    unevaluatedItems,
    unevaluatedProperties,
  }),
)

export function findKeyword(name: string): KeywordDefinition | undefined {
  return keywordTable.get(name)
}

export function buildCheck(keywords: Keywords, options: CompileOptions): Check {
  const checks: Check[] = keywords.type === undefined ? [assertJson] : []
  let cost = 1
  for (const [name, { build }] of keywordTable) {
    const value = keywords[name]
    if (value === undefined) continue
    // Checks iterate over the list of a keyword, except for `const` and `enum`, which use a lookup.
    if (Array.isArray(value) && name !== 'const' && name !== 'enum') cost += value.flat(2).length / 2
    const check = build?.(value as never, keywords, options)
    if (check) checks.push(check)
  }
  const combined = combineChecks(checks)
  // An `unevaluated` keyword uses only the keys that the same schema has evaluated.
  const hasOwnKeys = 'unevaluatedItems' in keywords || 'unevaluatedProperties' in keywords
  return (value, evaluation, outerKeys) => {
    spendSteps(evaluation, cost)
    if (!hasOwnKeys) return combined(value, evaluation, outerKeys)
    const evaluated: EvaluatedKeys = new Set()
    const isValid = combined(value, evaluation, evaluated)
    addEvaluatedKeys(outerKeys, evaluated)
    return isValid
  }
}
