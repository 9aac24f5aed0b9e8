/** Validates the structured content of tools against their output schemas. */

import { createJsonSchemaValidator, PEER_SCHEMA_OPTIONS } from '@mcpx/json-schema'
import {
  type CallToolResult,
  type CompiledSchema,
  ConnectionError,
  type JsonSchema,
  quoted,
  type Tool,
} from '@mcpx/protocol'
import { BoundedMap } from './bounded-map.ts'

/** How many tools with an output schema are remembered. Above this number, the oldest tool is removed. */
const MAX_TOOLS = 10_000
/** The most characters of their schemas as JSON. Above this number, the oldest tools are removed. */
const MAX_SIZE = 16 * 1024 * 1024

interface KnownTool {
  readonly schema: object
  /** The compiled schema. It is compiled when it is first needed. */
  check?: CompiledSchema | undefined
}

export class OutputCheck {
  readonly #onWarning: (warning: Error) => void
  readonly #tools = new BoundedMap<KnownTool>(MAX_TOOLS, MAX_SIZE)
  /** Validates without patterns, because the server wrote both the schema and the value. */
  readonly #validator = createJsonSchemaValidator(PEER_SCHEMA_OPTIONS)

  constructor(onWarning: (warning: Error) => void) {
    this.#onWarning = onWarning
  }

  /** Remembers the output schemas of listed tools. */
  learn(tools: readonly Tool[]): void {
    for (const { name, outputSchema } of tools) {
      if (this.#tools.get(name)?.schema === outputSchema) continue
      if (outputSchema === undefined) this.#tools.delete(name)
      else this.#tools.set(name, { schema: outputSchema }, JSON.stringify(outputSchema).length)
    }
  }

  /**
   * Returns the result. Throws if it does not match the output schema of the tool. Results of tools that were not
   * listed are not checked.
   */
  check(name: string, result: CallToolResult): CallToolResult {
    const tool = this.#tools.get(name)
    if (tool === undefined || result.isError === true) return result
    tool.check ??= this.#compile(name, tool.schema)
    const { structuredContent } = result
    if (structuredContent === undefined) {
      throw invalidOutput(name, 'result.structuredContent: expected a value, got nothing')
    }
    const verdict = tool.check(structuredContent, 'result.structuredContent')
    if (verdict.valid) return result
    const problems = verdict.problems.slice(0, 3).map(({ path, message }) => `${path}: ${message}`)
    throw invalidOutput(name, problems.join('; '))
  }

  /** Compiles a schema. If the schema cannot be used, reports a warning and returns a check that accepts every value. */
  #compile(name: string, schema: object): CompiledSchema {
    try {
      return this.#validator.compile(schema as JsonSchema)
    } catch (cause) {
      const message = `The output of tool ${quoted(name)} is not checked: its outputSchema cannot be used`
      this.#onWarning(new Error(message, { cause }))
      return () => ({ valid: true })
    }
  }
}

function invalidOutput(name: string, problem: string): ConnectionError {
  const hint = 'The output of the tool does not match its own outputSchema; report it to its author.'
  return new ConnectionError('invalid-message', `The output of tool ${quoted(name)} was refused. ${problem}`, { hint })
}
