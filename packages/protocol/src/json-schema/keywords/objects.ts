/** The keywords that are about objects as a whole. */

import type { Family, Maker, Members, Node } from '../node.ts'
import { isObject, type JsonObject } from '../places.ts'
import { all, apart, type Check, every, type Finding, fail, pathInto, type Run, spend } from '../run.ts'
import { excerpt } from '../schema-error.ts'
import { literal } from '../words.ts'
import { sized } from './assertions.ts'
import { checkBy } from './branches.ts'
import { names, size } from './shapes.ts'

/** A member that is undefined is not there, as JSON would not carry it. */
export const has = (value: JsonObject, name: string): boolean => value[name] !== undefined && Object.hasOwn(value, name)

/** Engines take their time for the names of a large object. */
export function namesOf(value: object, run: Run): string[] {
  const names = Object.keys(value)
  spend(run, names.length)
  return names
}

/** A check of objects that lets everything else pass. */
export const forObjects =
  (test: (value: JsonObject, ...rest: Tail<Parameters<Check>>) => boolean): Check =>
  (value, run, seen) =>
    !isObject(value) || test(value, run, seen)

type Tail<T extends unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never

const sayRequired = (cause: string | undefined) =>
  cause === undefined ? 'is required' : `is required beside ${literal(cause)}`

const requires = (wanted: readonly string[], cause?: string) =>
  all(
    wanted.map((name) =>
      forObjects((value, run) => {
        if (has(value, name)) return true
        const { path } = run
        if (run.told) run.path = pathInto(path, name)
        fail(run, sayRequired, cause, 0)
        run.path = path
        return false
      }),
    ),
  )

/** What one property asks of the whole object: other properties, or a form. */
const dependencies: Maker<Members<Node | readonly string[]>> = (causes) =>
  all(
    causes.map(([cause, wanted]) => {
      const check = 'test' in wanted ? checkBy(wanted) : requires(wanted, cause)
      return forObjects((value, run, seen) => !has(value, cause) || check(value, run, seen))
    }),
  )

const sayName = (problem: string, name: string) => {
  const link = problem === 'is not allowed' ? ' ' : ': '
  return `property name ${JSON.stringify(excerpt(name, 60))}${link}${problem}`
}

const propertyNames: Maker<Node> = (node) =>
  forObjects((value, run) =>
    every(namesOf(value, run), run, (name) => {
      const heard: Finding[] | undefined = run.told && []
      return apart(node, name, run, undefined, heard) || fail(run, sayName, heard?.[0]?.message ?? '', name)
    }),
  )

const countOf = (value: object, run: Run) => namesOf(value, run).length

export const objects: Family = {
  required: [names, (wanted: readonly string[]) => requires(wanted)],
  minProperties: [size, sized('least', isObject, countOf, 'property', 'properties')],
  maxProperties: [size, sized('most', isObject, countOf, 'property', 'properties')],
  propertyNames: ['one', propertyNames],
  dependentRequired: ['map', dependencies, '2020-12'],
  dependentSchemas: ['map', dependencies, '2020-12'],
  dependencies: ['map', dependencies],
}
