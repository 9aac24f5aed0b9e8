/** Says what is wrong with a value that fits none, or too many, of several forms. */

import type { EvaluationError } from './evaluation.ts'
import { keysOfLocation, locate } from './locations.ts'
import type { LoweredSchema, Subschema } from './lowered-schema.ts'
import { either, literals, typeOf } from './sentences.ts'

/** The errors of one form: a stretch of the list that they all stand in. */
interface Branch {
  readonly start: number
  end: number
}

/** What several forms are, and what became of each that does not fit. */
export interface Alternatives {
  readonly errors: readonly EvaluationError[]
  /** The stretch of errors that comes after the one that sums them up. */
  readonly start: number
  readonly end: number
  readonly root: Subschema
  readonly lookup: Readonly<Record<string, Subschema>>
  readonly schema: LoweredSchema
  readonly keyword: 'anyOf' | 'oneOf'
  /** How many keys lead to the keyword. */
  readonly depth: number
  readonly instanceLocation: string
  readonly value: unknown
}

/** One sentence about all the forms, or the stretch of errors of the one form that was probably meant. */
export function judgeAlternatives(alternatives: Alternatives): string | Branch {
  const { schema, keyword, value } = alternatives
  const branches = branchesOf(alternatives)
  const forms = schema[keyword]?.length ?? 0
  if (branches.length < forms) return `fits ${forms - branches.length} of the allowed forms, and must fit exactly 1`
  const expected = branches.map((branch) => plainExpectations(branch, alternatives))
  if (expected.every((words) => words !== undefined)) {
    return `expected ${either([...new Set(expected.flat())])}, got ${typeOf(value)}`
  }
  const [likely, ...others] = branches.filter((branch) => !isOtherKind(branch, alternatives))
  return likely && others.length === 0 ? likely : `fits none of the ${forms} allowed forms`
}

function branchesOf({ errors, start, end, depth }: Alternatives): Branch[] {
  const branches = new Map<string, Branch>()
  for (let index = start; index < end; index++) {
    const key = keysOfLocation(errors[index]?.keywordLocation ?? '')[depth] ?? ''
    const branch = branches.get(key)
    if (branch) branch.end = index + 1
    else branches.set(key, { start: index, end: index + 1 })
  }
  return [...branches.values()]
}

const carriers = new Set(['$ref', 'allOf', 'anyOf', 'oneOf'])

/** The types or values that a form asks for, when that is all that the value lacks. */
function plainExpectations({ start, end }: Branch, alternatives: Alternatives): string[] | undefined {
  const { errors, root, lookup, instanceLocation } = alternatives
  const types: string[] = []
  const values: unknown[] = []
  for (const error of errors.slice(start, end)) {
    if (error.instanceLocation !== instanceLocation) return undefined
    if (carriers.has(error.keyword)) continue
    const schema = locate(root, keysOfLocation(error.keywordLocation), lookup)?.schema
    if (error.keyword === 'type') types.push(...[schema?.type ?? []].flat())
    else if (error.keyword === 'const') values.push(schema?.const)
    else if (error.keyword === 'enum') values.push(...(schema?.enum ?? []))
    else return undefined
  }
  return values.length > 0 ? [literals(values)] : types
}

/** Whether a form is for values of another type, or with another mark in one of their properties. */
function isOtherKind({ start, end }: Branch, { errors, instanceLocation }: Alternatives): boolean {
  const depth = keysOfLocation(instanceLocation).length
  return errors.slice(start, end).some((error) => {
    if (error.keyword === 'type') return error.instanceLocation === instanceLocation
    if (error.keyword !== 'const' && error.keyword !== 'enum') return false
    return keysOfLocation(error.instanceLocation).length <= depth + 1
  })
}
