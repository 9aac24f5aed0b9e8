/** Turns what the evaluator reports into problems that a person can act on. */

import { judgeAlternatives } from './alternatives.ts'
import type { CompiledForm } from './compilation.ts'
import { type EvaluationError, evaluate } from './evaluation.ts'
import { MAX_UNIQUE_ITEMS, MAX_UNIQUE_SCALARS } from './limits.ts'
import { keysOfLocation, type Located, locate, valueAt } from './locations.ts'
import type { Role, Subschema } from './lowered-schema.ts'
import { excerpt } from './schema-error.ts'
import { missingProperties, sentenceFor } from './sentences.ts'

export interface Finding {
  /** Where in the whole value. */
  readonly keys: readonly string[]
  readonly message: string
  /** Whether it often only follows from another finding. */
  readonly secondary: boolean
}

/** A part of the whole value, and the schema that it was evaluated against. */
export interface Subject {
  readonly schema: Subschema
  readonly value: unknown
  readonly keys: readonly string[]
}

/** An error with what its locations point at. */
interface Spotted {
  readonly error: EvaluationError
  readonly located: Located
  readonly keys: readonly string[]
  readonly value: unknown
}

/** Keywords that say in one sentence what is wrong below them. */
const summing = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames'])
const intoTheValue =
  /^(properties|patternProperties|additionalProperties|prefixItems|items|additionalItems|unevaluated)/

/**
 * Reads a stretch of errors. What stands below a summing keyword is left out, unless that keyword is among the
 * first keys, of which `within` says how many.
 */
export function* findingsIn(
  errors: readonly EvaluationError[],
  subject: Subject,
  form: CompiledForm,
  start = 0,
  end = errors.length,
  within = 0,
): Generator<Finding> {
  let told = ''
  for (let index = start; index < end; index++) {
    const spotted = spot(errors[index], subject, form)
    if (!spotted) continue
    const { error, located, keys, value } = spotted
    if (located.applicators.some(([keyword, at]) => at >= within && summing.has(keyword))) continue
    const place = `${error.keywordLocation} ${error.instanceLocation}`
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf') {
      const { keyword, instanceLocation } = error
      const depth = located.keys.length
      const last = endOfChildren(errors, index)
      const { schema } = located
      const rest = { errors, start: index + 1, end: last, root: subject.schema, lookup: form.lookup }
      const judged = judgeAlternatives({ ...rest, schema, keyword, depth, instanceLocation, value })
      if (typeof judged === 'string') yield { keys, message: judged, secondary: false }
      else yield* findingsIn(errors, subject, form, judged.start, judged.end, depth)
      index = last - 1
    } else if (error.keyword === 'propertyNames') {
      yield { keys, message: propertyName(errors, index, subject, form), secondary: false }
    } else if (place !== told) {
      yield* findingsOf(spotted, form)
    }
    told = place
  }
}

function spot(error: EvaluationError | undefined, subject: Subject, form: CompiledForm): Spotted | undefined {
  const located = error && locate(subject.schema, keysOfLocation(error.keywordLocation), form.lookup)
  if (!located) return undefined
  const keys = keysOfLocation(error.instanceLocation)
  return { error, located, keys: [...subject.keys, ...keys], value: valueAt(subject.value, keys) }
}

function endOfChildren(errors: readonly EvaluationError[], parent: number): number {
  const prefix = `${errors[parent]?.keywordLocation}/`
  let end = parent + 1
  while (errors[end]?.keywordLocation.startsWith(prefix)) end++
  return end
}

function propertyName(errors: readonly EvaluationError[], index: number, subject: Subject, form: CompiledForm): string {
  const own = keysOfLocation(errors[index]?.instanceLocation ?? '').length
  const name = keysOfLocation(errors[index + 1]?.instanceLocation ?? '')[own] ?? ''
  for (const error of errors.slice(index + 1, endOfChildren(errors, index))) {
    const schema = spot(error, subject, form)?.located.schema
    const sentence = schema && !form.roles.has(schema) && sentenceFor(error.keyword, schema, name)
    if (sentence) return `property name ${JSON.stringify(excerpt(name, 60))}: ${sentence}`
  }
  return `property name ${JSON.stringify(excerpt(name, 60))} is not allowed`
}

function* findingsOf({ error, located, keys, value }: Spotted, form: CompiledForm): Generator<Finding> {
  const { schema, applicators } = located
  const secondary = applicators.some(([keyword]) => keyword.startsWith('unevaluated'))
  if (['required', 'dependentRequired', 'dependencies'].includes(error.keyword)) {
    for (const [name, message] of missingProperties(error.keyword, schema, value)) {
      yield { keys: [...keys, name], message, secondary }
    }
    return
  }
  const role = error.keyword === 'not' ? form.roles.get(schema) : undefined
  if (typeof role === 'object') {
    yield* findingsIn(evaluate(form, role, value, true), { schema: role, value, keys }, form)
    return
  }
  const message = role ? roleMessage(role, located) : sentenceFor(error.keyword, schema, value)
  if (message) yield { keys, message, secondary }
}

function roleMessage(role: Role, { applicators }: Located): string {
  if (role === 'text too long') return 'is too long to be tested against a pattern'
  if (role === 'too many items') {
    return `has too many items to search for duplicates (${MAX_UNIQUE_ITEMS}, or ${MAX_UNIQUE_SCALARS} texts and numbers)`
  }
  const [keyword = ''] = applicators.findLast(([name]) => name !== '$ref') ?? []
  if (!intoTheValue.test(keyword)) return 'is not allowed'
  return keyword.endsWith('tems') ? 'unexpected item' : 'unexpected property'
}
