/** A simulated model that calls a tool, then answers. */
import { MockLanguageModelV4 } from 'ai/test'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

export function modelThatFeeds(toolName: string, args: object): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      const isDone = JSON.stringify(prompt).includes('is fed')
      return {
        content: isDone
          ? [{ type: 'text', text: 'I fed the owl.' }]
          : [{ type: 'tool-call', toolCallId: 'c1', toolName, input: JSON.stringify(args) }],
        finishReason: isDone ? { unified: 'stop', raw: 'stop' } : { unified: 'tool-calls', raw: 'tool_calls' },
        usage,
        warnings: [],
      }
    },
  })
}
