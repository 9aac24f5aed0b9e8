/** Checks what tools give back against what they said it would look like. */

import type { CallToolResult, Tool } from '@mcpx/protocol'
import { keepNewest } from './newest.ts'
import type { OutputVerdict } from './output-verdict.ts'

export interface OutputCheck {
  /** Takes note of what tools say of their output. */
  learn(tools: readonly Tool[]): void
  /** Rejects when a result is not what its tool said. Tools that were never listed are not checked. */
  check(name: string, result: CallToolResult): Promise<CallToolResult>
}

/** How many tools with an output schema are remembered; the one learnt first is forgotten first. */
const MOST_TOOLS = 10_000

export function createOutputCheck(report: (problem: Error) => void): OutputCheck {
  const known = new Map<string, { schema: object; verdict?: Promise<OutputVerdict> | undefined }>()

  async function load(name: string, schema: object): Promise<OutputVerdict> {
    const { createVerdict } = await import('./output-verdict.ts')
    return createVerdict(name, schema, report)
  }

  return {
    learn(tools) {
      for (const { name, outputSchema } of tools) {
        if (known.get(name)?.schema === outputSchema) continue
        known.delete(name)
        if (outputSchema !== undefined) keepNewest(known, MOST_TOOLS, name, { schema: outputSchema })
      }
    },
    async check(name, result) {
      const tool = known.get(name)
      if (tool === undefined || result.isError === true) return result
      tool.verdict ??= load(name, tool.schema).catch((error) => {
        tool.verdict = undefined
        throw error
      })
      const problem = (await tool.verdict)(result)
      if (problem !== undefined) throw problem
      return result
    },
  }
}
