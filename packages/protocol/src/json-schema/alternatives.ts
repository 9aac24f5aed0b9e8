/** Says what is wrong with a value that fits none, or too many, of several forms. */

import { type Asked, type Finding, fail, type Run } from './run.ts'
import { someOf, typeOf } from './words.ts'

const sayNone = (fitting: number, forms: number) =>
  fitting > 0
    ? `fits ${fitting} of the allowed forms, and must fit exactly 1`
    : `fits none of the ${forms} allowed forms`

const sayAsked = (words: readonly string[], value: unknown) => `expected ${someOf(words)}, got ${typeOf(value)}`

/** Tells one sentence about all the forms, or what is wrong with the one form that was probably meant. */
export function judgeForms(misfits: readonly Finding[][], fitting: number, value: unknown, run: Run): false {
  const { told, depth } = run
  if (!told) return false
  const asked = misfits.map((findings) => askedBy(findings, depth))
  if (fitting === 0 && asked.every((one) => one !== undefined)) {
    const together = join(asked)
    return fail(run, sayAsked, together.words, value, together)
  }
  const [likely, ...others] = misfits.filter((findings) => !isOtherKind(findings, depth))
  if (fitting > 0 || !likely || others.length > 0) return fail(run, sayNone, fitting, misfits.length)
  for (const finding of likely) told.push(finding)
  return false
}

/** The types or values that a form asks for, when that is all that the value lacks. */
function askedBy(findings: readonly Finding[], depth: number): Asked | undefined {
  const asked = findings.map((finding) => (finding.depth === depth ? finding.asked : undefined))
  if (!asked.every((one) => one !== undefined)) return undefined
  const values = asked.filter(({ what }) => what === 'value')
  return join(values.length > 0 ? values : asked)
}

const join = (asked: readonly Asked[]): Asked => ({
  what: asked.some(({ what }) => what === 'value') ? 'value' : 'type',
  words: [...new Set(asked.flatMap(({ words }) => words))],
})

/** Whether a form is for values of another type, or with another mark in one of their properties. */
function isOtherKind(findings: readonly Finding[], depth: number): boolean {
  return findings.some(({ asked, depth: at }) => asked && at <= (asked.what === 'type' ? depth : depth + 1))
}
