/** Evaluates a value against a compiled schema: counts steps, tracks the place in the value, collects findings. */

import { jsonTypeOf, tryOrUndefined } from './json.ts'
import { type JsonSchemaLimits, MAX_BRANCH_FINDINGS, REPORT_STEPS } from './limits.ts'
import { appendToPath } from './messages.ts'

/** One problem of a value, written for a person or a model: `${path}: ${message}` is a sentence. */
export interface JsonSchemaProblem {
  /** Place in the value, beginning with the name that the caller passed: `arguments.items[2].name`. */
  readonly path: string
  /** The fault at that place, such as `expected string, got number`. Never contains the value. */
  readonly message: string
}

/** The outcome of a check: valid, or invalid with the problems. */
export type JsonSchemaVerdict =
  | { readonly valid: true }
  | { readonly valid: false; readonly problems: readonly JsonSchemaProblem[] }

/** A fault at one place of the value. */
export interface Finding extends JsonSchemaProblem {
  /** How many keys lead to the place. */
  readonly depth: number
  /** Whether the finding is probably a consequence of another finding. */
  readonly secondary: boolean
  /** The types or values that the schema expects there, if that is the fault. */
  readonly expectation: Expectation | undefined
}

export interface Expectation {
  readonly kind: 'type' | 'value'
  readonly words: readonly string[]
}

/** State of one check of one value. */
export interface Evaluation {
  stepsLeft: number
  readonly maxSteps: number
  /** Receives findings. When it is undefined, evaluation stops at the first fault. */
  findings: Finding[] | undefined
  /** Receives the findings that are not about one branch of `anyOf` or `oneOf`. */
  readonly rootFindings: Finding[] | undefined
  path: string
  depth: number
  /** Whether new findings are marked as secondary. */
  secondary: boolean
  /**
   * How many patterns were skipped. A schema that accepts a value while this number stays the same is certain to accept
   * it; otherwise it accepts the value if the skipped patterns match.
   */
  skippedPatterns: number
}

/** Property names and indexes that were evaluated. Undefined when no `unevaluated` keyword needs them. */
export type EvaluatedKeys = Set<string | number> | undefined

/** Returns whether a value is valid. Throws `CheckAborted`, or another error when the value is not JSON. */
export type Check = (value: unknown, evaluation: Evaluation, evaluated: EvaluatedKeys) => boolean

interface Checkable {
  readonly check: Check
}

/** A check that cannot be finished. The message becomes the problem of the value. */
export class CheckAborted extends Error {}

const VALID: JsonSchemaVerdict = { valid: true }

const invalid = (path: string, message: string): JsonSchemaVerdict => ({ valid: false, problems: [{ path, message }] })

/** Checks any value and never throws. The name starts the paths of problems. */
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
    // Part of the value is not JSON, for example a function: check the JSON text that would be sent.
    const json: unknown = isSerialized ? undefined : tryOrUndefined(() => JSON.parse(JSON.stringify(value)))
    if (json !== undefined) return evaluate(root, limits, json, name, true)
  }
  const found = value === undefined ? 'nothing' : `${jsonTypeOf(value)} that JSON cannot represent`
  return invalid(name, `expected a JSON value, got ${found}`)
}

/** Why a check was aborted. Returns undefined when the value is not JSON. */
function abortReasonOf(error: unknown): string | undefined {
  if (error instanceof CheckAborted) return error.message
  // Engines throw a RangeError or an InternalError on stack overflow.
  const isTooDeep = error instanceof Error && /^(Range|Internal)Error$/.test(error.name)
  return isTooDeep ? 'is nested too deeply or too large to be checked' : undefined
}

/** Evaluates once without findings, which is fast, and again with findings when the value is invalid. */
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
    // The search for further findings was not finished, so only the first one is reported.
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

/** Counts steps before they are taken. Throws `CheckAborted` above `maxSteps`. */
export function spendSteps(evaluation: Evaluation, steps: number): void {
  evaluation.stepsLeft -= steps
  if (evaluation.stepsLeft < 0) throw new CheckAborted(`takes more than ${evaluation.maxSteps} steps to check`)
}

/** Adds a finding and returns false. The message is built only when findings are collected. */
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

/** Combines checks into one. It continues after a fault only while findings are collected. */
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

/** Tests each member or item. It continues after a fault only while findings are collected. */
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

/** Checks a value and redirects findings to another array, or drops them without one. */
export function checkSeparately(
  { check }: Checkable,
  value: unknown,
  evaluation: Evaluation,
  evaluated?: EvaluatedKeys,
  separateFindings?: Finding[],
): boolean {
  const { findings } = evaluation
  evaluation.findings = separateFindings
  const isValid = check(value, evaluation, evaluated)
  evaluation.findings = findings
  return isValid
}

export function addEvaluatedKeys(target: EvaluatedKeys, keys: EvaluatedKeys): void {
  if (target && keys) for (const key of keys) target.add(key)
}
