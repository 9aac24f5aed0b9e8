/** Checks a value against a compiled schema, whatever the value is. */

import type { JsonSchemaProblem, JsonSchemaVerdict } from '../ports/json-schema.ts'
import type { CompiledForm } from './compilation.ts'
import { type EvaluationError, evaluate, hindranceOf } from './evaluation.ts'
import { findingsIn } from './findings.ts'
import { TELLING_STEPS } from './limits.ts'
import { pathOf } from './locations.ts'
import { StepLimitReached } from './lowered-schema.ts'
import { typeOf } from './sentences.ts'

const VALID: JsonSchemaVerdict = { valid: true }

export function checkValue(form: CompiledForm, value: unknown, name: string): JsonSchemaVerdict {
  const refuse = (message: string): JsonSchemaVerdict => ({ valid: false, problems: [{ path: name, message }] })
  if (value === undefined) return refuse('expected a JSON value, got nothing')
  try {
    return judge(form, value, name)
  } catch (error) {
    const hindrance = hindranceOf(error, form.limits.maxSteps)
    if (hindrance) return refuse(hindrance)
  }
  // Something in the value is not JSON, such as a property that is there and undefined: judge what JSON makes of it.
  try {
    return judge(form, JSON.parse(JSON.stringify(value)), name)
  } catch (error) {
    return refuse(
      hindranceOf(error, form.limits.maxSteps) ?? `expected a JSON value, got ${typeOf(value)} that is none`,
    )
  }
}

function judge(form: CompiledForm, value: unknown, name: string): JsonSchemaVerdict {
  form.meter.left = form.limits.maxSteps
  if (form.keyPatterns > 0) boundPatternTests(form, value)
  const errors = evaluate(form, form.root, value, false)
  return errors.length === 0 ? VALID : { valid: false, problems: problemsOf(form, errors, value, name) }
}

/** Every property is tried on every pattern: bounds the length of names, and the number of trials by the steps. */
function boundPatternTests({ keyPatterns, limits }: CompiledForm, value: unknown): void {
  let trials = 0
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    for (const [key, member] of Object.entries(next)) {
      if (key.length > limits.maxPatternInput) throw new RangeError('a property name is too long')
      trials += keyPatterns
      if (trials > limits.maxSteps) throw new StepLimitReached()
      open.push(member)
    }
  }
}

function problemsOf(
  form: CompiledForm,
  first: readonly EvaluationError[],
  value: unknown,
  name: string,
): JsonSchemaProblem[] {
  const problems = new Map<string, JsonSchemaProblem>()
  const secondary = new Map<string, JsonSchemaProblem>()
  const errors = allErrors(form, first, value)
  form.meter.left = TELLING_STEPS
  try {
    for (const finding of findingsIn(errors, { schema: form.root, value, keys: [] }, form)) {
      const problem = { path: pathOf(name, value, finding.keys), message: finding.message }
      const kind = finding.secondary ? secondary : problems
      if (kind.size < form.limits.maxProblems) kind.set(`${problem.path}: ${problem.message}`, problem)
      if (problems.size >= form.limits.maxProblems) break
    }
  } catch (error) {
    if (hindranceOf(error, form.limits.maxSteps) === undefined) throw error
  }
  const found = problems.size > 0 ? problems : secondary
  if (found.size === 0) return [{ path: name, message: 'does not fit the schema' }]
  return [...found.values()]
}

/** All errors, where finding them takes not too many steps; else the first ones. */
function allErrors(form: CompiledForm, first: readonly EvaluationError[], value: unknown): readonly EvaluationError[] {
  form.meter.left = TELLING_STEPS
  try {
    return evaluate(form, form.root, value, true)
  } catch {
    return first
  }
}
