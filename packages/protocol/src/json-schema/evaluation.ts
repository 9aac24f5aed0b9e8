/** Runs the evaluator. The only file that calls it, so that another can take its place. */

import { type OutputUnit, type Schema, validate } from '@cfworker/json-schema'
import type { CompiledForm } from './compilation.ts'
import { StepLimitReached, type Subschema } from './lowered-schema.ts'

export type EvaluationError = OutputUnit

/**
 * What is wrong with a value; nothing when it is valid. Stops at the first property or item that is wrong, unless
 * all of them are asked for. Throws when the value is too deep, too large, or no JSON.
 */
export function evaluate(form: CompiledForm, schema: Subschema, value: unknown, all: boolean): EvaluationError[] {
  const lookup = form.lookup as unknown as Record<string, Schema | boolean>
  // References are resolved and keywords sorted out by dialect before, so the evaluator always uses its newest rules.
  return validate(value, schema as unknown as Schema | boolean, '2020-12', lookup, !all).errors
}

/** Why the evaluator gave up, in words for the reader of a problem; nothing when the value is no JSON. */
export function hindranceOf(error: unknown, maxSteps: number): string | undefined {
  if (error instanceof StepLimitReached) return `takes more than ${maxSteps} steps to check`
  if (error instanceof URIError) return 'has a property name that is not well-formed Unicode'
  // Where the stack ends, engines throw a RangeError or an InternalError.
  if (error instanceof RangeError || (error instanceof Error && error.name === 'InternalError')) {
    return 'is nested too deeply or too large to be checked'
  }
  return undefined
}
