/** Checks a value against a schema, whatever the value is. */

import type { JsonSchemaProblem, JsonSchemaVerdict } from '../ports/json-schema.ts'
import { attempt } from './attempt.ts'
import { TELLING_STEPS } from './limits.ts'
import type { CompilationOptions, Node } from './node.ts'
import { type Finding, Hindrance, type Run } from './run.ts'
import { typeOf } from './words.ts'

const VALID: JsonSchemaVerdict = { valid: true }

export function checkValue(
  root: Node,
  options: CompilationOptions,
  value: unknown,
  name: string,
  again = true,
): JsonSchemaVerdict {
  try {
    if (value !== undefined) return judge(root, options, value, name)
  } catch (error) {
    const hindrance = hindranceOf(error)
    if (hindrance) return refuse(name, hindrance)
    // Something in the value is not JSON, such as a function among the properties: judge what JSON makes of it.
    const json: unknown = again ? attempt(() => JSON.parse(JSON.stringify(value))) : undefined
    if (json !== undefined) return checkValue(root, options, json, name, false)
  }
  return refuse(name, `expected a JSON value, got ${value === undefined ? 'nothing' : `${typeOf(value)} that is none`}`)
}

const refuse = (path: string, message: string): JsonSchemaVerdict => ({ valid: false, problems: [{ path, message }] })

/** Why a check was given up, in words for the reader of a problem; nothing when the value is no JSON. */
function hindranceOf(error: unknown): string | undefined {
  if (error instanceof Hindrance) return error.message
  // Where the stack ends, engines throw a RangeError or an InternalError.
  const tooDeep = error instanceof Error && /^(Range|Internal)Error$/.test(error.name)
  return tooDeep ? 'is nested too deeply or too large to be checked' : undefined
}

function judge(root: Node, { limits }: CompilationOptions, value: unknown, path: string): JsonSchemaVerdict {
  const { maxSteps, maxProblems } = limits
  const begin = (steps: number, findings?: Finding[]): Run => {
    return { steps, maxSteps, told: findings, findings, path, depth: 0, secondary: false }
  }
  if (root.test(value, begin(maxSteps), undefined)) return VALID
  const findings: Finding[] = []
  try {
    root.test(value, begin(maxSteps + TELLING_STEPS, findings), undefined)
  } catch (error) {
    if (!hindranceOf(error)) throw error
    // What comes after the first finding was not looked for to the end, so it is not told at all.
    findings.splice(1)
  }
  const primary = findings.filter(({ secondary }) => !secondary)
  const problems = new Map<string, JsonSchemaProblem>()
  for (const finding of primary.length > 0 ? primary : findings) {
    if (problems.size < maxProblems)
      problems.set(finding.path + finding.message, { path: finding.path, message: finding.message })
  }
  return problems.size > 0
    ? { valid: false, problems: [...problems.values()] }
    : refuse(path, 'does not fit the schema')
}
