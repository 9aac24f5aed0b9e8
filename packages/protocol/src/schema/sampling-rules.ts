/** The rules that the messages of a sampling request keep: which blocks may stand together, and in which order. */

import type { CreateMessageRequestParams } from './sampling.ts'

/** The first broken rule, as a sentence; nothing when all are kept. `takesTools`: whether the client declared `sampling.tools`. */
export function samplingProblem(params: CreateMessageRequestParams, takesTools: boolean): string | undefined {
  if (!takesTools && (params.tools !== undefined || params.toolChoice !== undefined)) {
    return 'params.tools: the client did not declare sampling.tools'
  }
  let open = ''
  for (const [index, { role, content }] of params.messages.entries()) {
    const blocks = [content].flat()
    const results = blocks.filter((block) => block.type === 'tool_result')
    const uses = blocks.filter((block) => block.type === 'tool_use')
    const answered = idsOf(results.map(({ toolUseId }) => toolUseId))
    const rule =
      results.length > 0 && (role !== 'user' || results.length < blocks.length)
        ? 'tool results stand alone, in a message of the user'
        : answered !== open
          ? 'expected the results of the tool uses before, and no others'
          : uses.length > 0 && role !== 'assistant' && 'tool uses stand in messages of the assistant'
    if (rule) return `params.messages[${index}].content: ${rule}`
    open = idsOf(uses.map(({ id }) => id))
  }
  return open === '' ? undefined : 'params.messages: the last tool uses have no results'
}

/** The same text for the same ids, whatever their order. */
function idsOf(ids: readonly string[]): string {
  return ids.length === 0 ? '' : JSON.stringify(ids.toSorted())
}
