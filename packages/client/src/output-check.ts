/** Checks what tools give back against what they said it would look like; the validator is loaded when it is needed. */

import { type CallToolResult, type CompiledSchema, ConnectionError, quoted, type Tool } from '@mcpx/protocol'

export interface OutputCheck {
  /** Takes note of what tools say of their output. */
  learn(tools: readonly Tool[]): void
  /** Rejects when a result is not what its tool said. Tools that were never listed are not checked. */
  check(name: string, result: CallToolResult): Promise<CallToolResult>
}

/** How many tools with an output schema are remembered; the one learnt first is forgotten first. */
const MOST_TOOLS = 10_000

export function createOutputCheck(report: (problem: Error) => void): OutputCheck {
  const schemas = new Map<string, { schema: object; compiled?: Promise<CompiledSchema | undefined> }>()

  async function compile(name: string, schema: object): Promise<CompiledSchema | undefined> {
    const { createJsonSchemaValidator } = await import('@mcpx/protocol/json-schema')
    try {
      return createJsonSchemaValidator().compile(schema as { [keyword: string]: unknown })
    } catch (error) {
      report(
        new Error(`The output of tool ${quoted(name)} is not checked: its outputSchema cannot be used`, {
          cause: error,
        }),
      )
      return undefined
    }
  }

  return {
    learn(tools) {
      for (const { name, outputSchema } of tools) {
        if (schemas.get(name)?.schema === outputSchema) continue
        schemas.delete(name)
        if (outputSchema === undefined) continue
        const oldest = schemas.size >= MOST_TOOLS ? schemas.keys().next().value : undefined
        if (oldest !== undefined) schemas.delete(oldest)
        schemas.set(name, { schema: outputSchema })
      }
    },
    async check(name, result) {
      const known = schemas.get(name)
      if (known === undefined || result.isError === true) return result
      if (result.structuredContent === undefined) {
        throw wrongOutput(name, 'result.structuredContent: expected a value, got nothing')
      }
      known.compiled ??= compile(name, known.schema)
      const verdict = (await known.compiled)?.(result.structuredContent, 'result.structuredContent')
      if (verdict === undefined || verdict.valid) return result
      throw wrongOutput(
        name,
        verdict.problems
          .slice(0, 3)
          .map(({ path, message }) => `${path}: ${message}`)
          .join('; '),
      )
    },
  }
}

function wrongOutput(name: string, problem: string): ConnectionError {
  const hint = 'The tool does not keep to its own outputSchema; tell its author.'
  return new ConnectionError('invalid-message', `The output of tool ${quoted(name)} was refused. ${problem}`, { hint })
}
