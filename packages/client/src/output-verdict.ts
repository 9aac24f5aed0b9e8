/** Holds what a tool gave back against what it said it would look like: loaded with the first tool that said so. */

import { createJsonSchemaValidator } from '@mcpx/json-schema'
import { type CallToolResult, ConnectionError, type JsonSchemaVerdict, quoted } from '@mcpx/protocol'

/** What is wrong with a result; nothing when it is as it should be. */
export type OutputVerdict = (result: CallToolResult) => ConnectionError | undefined

/** A schema that cannot be used is reported once, and lets everything through. */
export function createVerdict(name: string, schema: object, report: (problem: Error) => void): OutputVerdict {
  const fits = compile(name, schema, report)
  return ({ structuredContent }) => {
    if (structuredContent === undefined) {
      return wrongOutput(name, 'result.structuredContent: expected a value, got nothing')
    }
    const verdict = fits(structuredContent, 'result.structuredContent')
    if (verdict.valid) return undefined
    const problems = verdict.problems.slice(0, 3).map(({ path, message }) => `${path}: ${message}`)
    return wrongOutput(name, problems.join('; '))
  }
}

/** Limits the work of one check, because the server wrote both the schema and the value. */
const MAX_STEPS = 500_000

function compile(name: string, schema: object, report: (problem: Error) => void) {
  try {
    return createJsonSchemaValidator({ maxSteps: MAX_STEPS }).compile(schema as { [keyword: string]: unknown })
  } catch (cause) {
    report(new Error(`The output of tool ${quoted(name)} is not checked: its outputSchema cannot be used`, { cause }))
    return (): JsonSchemaVerdict => ({ valid: true })
  }
}

function wrongOutput(name: string, problem: string): ConnectionError {
  const hint = 'The tool does not keep to its own outputSchema; tell its author.'
  return new ConnectionError('invalid-message', `The output of tool ${quoted(name)} was refused. ${problem}`, { hint })
}
