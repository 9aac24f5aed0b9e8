/** Takes from results and parameters what an older revision does not have, by the tables of `legacy-since.ts`. */

import type { JsonObject } from '../schema/primitives.ts'
import type { Revision } from '../versions.ts'
import { type Rule, ruleOfParams, ruleOfResult } from './legacy-since.ts'

/** A result as a peer of that revision may see it: the same object if nothing has to go. The input stays as it is. */
export function stripResult<T extends object>(revision: Revision, method: string, result: T): T {
  return strip(ruleOfResult(method), result, revision) as T
}

/** The same for the parameters of a request or of a notification. */
export function stripParams<T extends object>(revision: Revision, method: string, params: T): T {
  return strip(ruleOfParams(method), params, revision) as T
}

function strip(rule: Rule | undefined, value: unknown, revision: Revision): unknown {
  if (rule === undefined || typeof value !== 'object' || value === null || revision >= lastWord(rule)) return value
  if (Array.isArray(value)) return stripItems(rule, value, revision)
  const { becomes, before } = rule
  const changed = becomes && before && revision < before ? becomes(value as JsonObject, revision) : value
  if (!Array.isArray(changed)) return stripMembers(rule, changed as JsonObject, revision)
  return changed.map((each) => stripMembers(rule, each, revision))
}

function stripItems(rule: Rule, items: readonly unknown[], revision: Revision): readonly unknown[] {
  let kept: unknown[] | undefined
  for (const [index, item] of items.entries()) {
    const stripped = strip(rule, item, revision)
    if (kept === undefined && stripped === item) continue
    kept ??= items.slice(0, index)
    if (Array.isArray(stripped)) kept.push(...stripped)
    else kept.push(stripped)
  }
  return kept ?? items
}

function stripMembers({ since, within }: Rule, value: JsonObject, revision: Revision): JsonObject {
  let copy: JsonObject | undefined
  for (const key in since) {
    if (Object.hasOwn(value, key) && revision < (since[key] as Revision)) {
      copy ??= { ...value }
      delete copy[key]
    }
  }
  for (const key in within) {
    const member = (copy ?? value)[key]
    const stripped = strip(within[key], member, revision)
    if (stripped !== member) {
      copy ??= { ...value }
      copy[key] = stripped
    }
  }
  return copy ?? value
}

const lastWords = new WeakMap<Rule, string>()

/** The revision from which on a rule has nothing to do. */
function lastWord(rule: Rule): string {
  let last = lastWords.get(rule)
  if (last === undefined) {
    const inner = Object.values(rule.within ?? {}).map(lastWord)
    last = [...Object.values(rule.since ?? {}), ...inner, rule.before ?? ''].sort().at(-1) as string
    lastWords.set(rule, last)
  }
  return last
}
