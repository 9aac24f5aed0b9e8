/** Checks a value with a compiled schema: counts steps, tracks the place in the value, and collects findings. */

import { jsonTypeOf, tryOrUndefined } from './json.ts'
import { type JsonSchemaLimits, MAX_BRANCH_FINDINGS, REPORT_STEPS } from './limits.ts'
import { appendToPath } from './messages.ts'

/** One problem of a value, for humans and models. Display it as `${path}: ${message}`. */
export interface JsonSchemaProblem {
  /** The place in the value, starting with the name that the caller passed: `arguments.items[2].name`. */
  readonly path: string
  /** The problem at that place, such as `expected string, got number`. Never contains the value. */
  readonly message: string
}

/** The outcome of a check: valid, or invalid with the problems. */
export type JsonSchemaVerdict =
  | { readonly valid: true }
  | { readonly valid: false; readonly problems: readonly JsonSchemaProblem[] }

/** A problem at one place of the value. */
export interface Finding extends JsonSchemaProblem {
  /** The number of keys in the path. */
  readonly depth: number
  /** Whether the finding is probably a consequence of another finding. */
  readonly secondary: boolean
  /** The expected types or values, if the value has the wrong type or is not one of the allowed values. */
  readonly expectation: Expectation | undefined
}

export interface Expectation {
  readonly kind: 'type' | 'value'
  readonly words: readonly string[]
}

/** The state of one check of one value. */
export interface Evaluation {
  stepsLeft: number
  readonly maxSteps: number
  /** The collected findings. If undefined, the check stops at the first problem. */
  findings: Finding[] | undefined
  /** The findings that are not about one branch of `anyOf` or `oneOf`. */
  readonly rootFindings: Finding[] | undefined
  path: string
  depth: number
  /** Whether new findings are marked as secondary. */
  secondary: boolean
  /**
   * The number of skipped patterns. If it increased during a check, the verdict depends on patterns that were not tested.
   */
  skippedPatterns: number
}

/** The property names and indexes that were evaluated. Undefined if no `unevaluated` keyword needs them. */
export type EvaluatedKeys = Set<string | number> | undefined

/**
 * Returns whether a value is valid. Throws `CheckAborted` if the check cannot be finished, and other errors for a value
 * that is not JSON.
 */
export type Check = (value: unknown, evaluation: Evaluation, evaluated: EvaluatedKeys) => boolean

interface Checkable {
  readonly check: Check
}

/** Thrown to abort a check that cannot be finished. The message becomes the problem of the value. */
export class CheckAborted extends Error {}

const VALID: JsonSchemaVerdict = { valid: true }

const invalid = (path: string, message: string): JsonSchemaVerdict => ({ valid: false, problems: [{ path, message }] })

/** Checks any value. Never throws, except for a bug of this package. The paths of problems start with `name`. */
export function evaluate(
  root: Checkable,
  limits: JsonSchemaLimits,
  value: unknown,
  name: string,
  isSerialized = false,
): JsonSchemaVerdict {
  try {
    if (value !== undefined) return evaluateJson(root, limits, value, name)
  } catch (error) {
    const reason = abortReasonOf(error)
    if (reason) return invalid(name, reason)
    // The second attempt checks a parsed JSON value, for which only `CheckAborted` is expected. Another error is a bug.
    if (isSerialized) throw error
    // The value contains a part that is not JSON, such as a function. Check the JSON that would be sent instead.
    const json: unknown = tryOrUndefined(() => JSON.parse(JSON.stringify(value)))
    if (json !== undefined) return evaluate(root, limits, json, name, true)
  }
  const found = value === undefined ? 'nothing' : `${jsonTypeOf(value)} that JSON cannot represent`
  return invalid(name, `expected a JSON value, got ${found}`)
}

/** Returns the reason if an error means that a check was aborted; undefined for other errors. */
function abortReasonOf(error: unknown): string | undefined {
  if (error instanceof CheckAborted) return error.message
  // Engines throw a RangeError or an InternalError on stack overflow.
  const isTooDeep = error instanceof Error && /^(Range|Internal)Error$/.test(error.name)
  return isTooDeep ? 'is nested too deeply or too large to be checked' : undefined
}

/** Checks a value without collecting findings, which is fast. If it is invalid, checks it again and collects findings. */
function evaluateJson(root: Checkable, limits: JsonSchemaLimits, value: unknown, path: string): JsonSchemaVerdict {
  const { maxSteps, maxProblems } = limits
  const start = (stepsLeft: number, findings?: Finding[]): Evaluation => {
    return {
      stepsLeft,
      maxSteps,
      findings,
      rootFindings: findings,
      path,
      depth: 0,
      secondary: false,
      skippedPatterns: 0,
    }
  }
  if (root.check(value, start(maxSteps), undefined)) return VALID
  const findings: Finding[] = []
  try {
    root.check(value, start(maxSteps + REPORT_STEPS, findings), undefined)
  } catch (error) {
    if (!abortReasonOf(error)) throw error
    // The second check was aborted, so only the first finding is reported.
    findings.splice(1)
  }
  const primary = findings.filter(({ secondary }) => !secondary)
  const problems = new Map<string, JsonSchemaProblem>()
  for (const { path, message } of primary.length > 0 ? primary : findings) {
    if (problems.size < maxProblems) problems.set(path + message, { path, message })
  }
  if (problems.size === 0) return invalid(path, 'does not fit the schema')
  return { valid: false, problems: [...problems.values()] }
}

/** Counts steps before the work is done. Throws `CheckAborted` if the total exceeds `maxSteps`. */
export function spendSteps(evaluation: Evaluation, steps: number): void {
  evaluation.stepsLeft -= steps
  if (evaluation.stepsLeft < 0) throw new CheckAborted(`takes more than ${evaluation.maxSteps} steps to check`)
}

/** Adds a finding and returns false. Creates the message only if findings are collected. */
export function failWith<Limit, Value>(
  evaluation: Evaluation,
  describe: (limit: Limit, value: Value) => string,
  limit: Limit,
  value: Value,
  expectation?: Expectation,
): false {
  const { findings, path, depth, secondary } = evaluation
  const isRoot = findings === evaluation.rootFindings
  if (!findings || (findings.length >= MAX_BRANCH_FINDINGS && !isRoot)) return false
  findings.push({ path, depth, message: describe(limit, value), secondary, expectation })
  if (isRoot) evaluation.stepsLeft = Math.min(evaluation.stepsLeft, REPORT_STEPS)
  return false
}

/** Combines checks into one. It continues after a problem only if findings are collected. */
export function combineChecks(checks: readonly Check[]): Check {
  const [only] = checks
  if (only && checks.length === 1) return only
  return (value, evaluation, evaluated) => {
    let isValid = true
    for (const check of checks) {
      if (check(value, evaluation, evaluated)) continue
      if (!evaluation.findings) return false
      isValid = false
    }
    return isValid
  }
}

/** Tests each member or item. Continues after a problem only if findings are collected. */
export function testEach<T>(
  items: readonly T[],
  evaluation: Evaluation,
  test: (item: T, index: number) => boolean,
): boolean {
  // An item without a schema costs an eighth of a step.
  spendSteps(evaluation, items.length >> 3)
  let isValid = true
  for (let index = 0; index < items.length; index++) {
    if (test(items[index] as T, index)) continue
    if (!evaluation.findings) return false
    isValid = false
  }
  return isValid
}

/** Checks a member or an item of the current value. */
export function checkMember(
  { check }: Checkable,
  value: unknown,
  key: string | number,
  evaluation: Evaluation,
): boolean {
  if (!evaluation.findings) return check(value, evaluation, undefined)
  const { path } = evaluation
  evaluation.path = appendToPath(path, key)
  evaluation.depth++
  const isValid = check(value, evaluation, undefined)
  evaluation.path = path
  evaluation.depth--
  return isValid
}

/**
 * Checks a value and adds its findings to `separateFindings`. Drops the findings if `separateFindings` is undefined.
 */
export function checkSeparately(
  { check }: Checkable,
  value: unknown,
  evaluation: Evaluation,
  evaluated?: EvaluatedKeys,
  separateFindings?: Finding[],
): boolean {
  const { findings, skippedPatterns } = evaluation
  evaluation.findings = separateFindings
  const isValid = check(value, evaluation, evaluated)
  evaluation.findings = findings
  // The value is invalid, and the skipped patterns could not make it valid, so the verdict is certain.
  if (!isValid) evaluation.skippedPatterns = skippedPatterns
  return isValid
}

export function addEvaluatedKeys(target: EvaluatedKeys, keys: EvaluatedKeys): void {
  if (target && keys) for (const key of keys) target.add(key)
}
