/** The rules that the messages of a sampling request keep: which blocks may stand together, and in which order. */

import type { CreateMessageRequestParams, SamplingMessage, SamplingMessageContentBlock } from './sampling.ts'

/** The first broken rule, as a sentence; nothing when all are kept. `takesTools`: whether the client declared `sampling.tools`. */
export function samplingProblem(params: CreateMessageRequestParams, takesTools: boolean): string | undefined {
  if (!takesTools && (params.tools !== undefined || params.toolChoice !== undefined)) {
    return 'params.tools: the client did not declare sampling.tools'
  }
  let open: string[] = []
  for (const [index, message] of params.messages.entries()) {
    const place = `params.messages[${index}]`
    const blocks = blocksOf(message)
    const answered = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.toolUseId] : []))
    if (answered.length > 0 && (message.role !== 'user' || answered.length < blocks.length)) {
      return `${place}.content: tool results stand alone, in a message of the user`
    }
    if (!sameIds(open, answered)) return `${place}.content: expected the results of the tool uses before, and no others`
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
    if (open.length > 0 && message.role !== 'assistant') {
      return `${place}.content: tool uses stand in messages of the assistant`
    }
  }
  return open.length === 0 ? undefined : 'params.messages: the last tool uses have no results'
}

function blocksOf({ content }: SamplingMessage): SamplingMessageContentBlock[] {
  return Array.isArray(content) ? content : [content]
}

function sameIds(some: readonly string[], others: readonly string[]): boolean {
  return some.toSorted().join('\n') === others.toSorted().join('\n')
}
