/** All keywords, and the check that those of a schema make. */

import { branches, references } from './keywords/branches.ts'
import { lists } from './keywords/lists.ts'
import { members } from './keywords/members.ts'
import { numbers } from './keywords/numbers.ts'
import { objects } from './keywords/objects.ts'
import { text } from './keywords/shapes.ts'
import { texts } from './keywords/texts.ts'
import { unevaluated } from './keywords/unevaluated.ts'
import { isJson, values } from './keywords/values.ts'
import type { CompilationOptions, Family, Keyword, Keywords } from './node.ts'
import { all, type Check, merge, type Seen, spend } from './run.ts'

const anchor: Keyword = [
  [
    'a name of letters, digits, ".", "-" and "_"',
    (value) => typeof value === 'string' && /^[a-z_][-\w.]*$/i.test(value),
  ],
  undefined,
  '2020-12',
]

const definitions: Family = {
  $id: [text],
  $anchor: anchor,
  $dynamicAnchor: anchor,
  $defs: ['map'],
  definitions: ['map'],
}

/** In the order in which problems are told. */
const known = new Map(
  Object.entries({
    ...definitions,
    ...references,
    ...values,
    ...branches,
    ...objects,
    ...members,
    ...lists,
    ...numbers,
    ...texts,
    ...unevaluated,
  }),
)

export function keywordOf(name: string): Keyword | undefined {
  return known.get(name)
}

export function checkOf(keywords: Keywords, options: CompilationOptions): Check {
  const checks: Check[] = keywords.type === undefined ? [isJson] : []
  let cost = 1
  for (const [name, [, make]] of known) {
    const value = keywords[name]
    if (value === undefined) continue
    // What a keyword lists is gone through for each value, but not the values that are allowed.
    if (Array.isArray(value) && name !== 'const' && name !== 'enum') cost += value.flat(2).length / 2
    const check = make?.(value as never, keywords, options)
    if (check) checks.push(check)
  }
  const test = all(checks)
  // Keywords about what is unevaluated see what their own schema evaluates, and nothing of what is around it.
  const isApart = 'unevaluatedItems' in keywords || 'unevaluatedProperties' in keywords
  return (value, run, around) => {
    spend(run, cost)
    if (!isApart) return test(value, run, around)
    const seen: Seen = new Set()
    const fits = test(value, run, seen)
    merge(around, seen)
    return fits
  }
}
