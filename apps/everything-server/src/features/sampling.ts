/** Requests completions of the client's model. */
import type { CreateMessageResult } from '@mcpx/protocol'
import type { Server } from '@mcpx/server'
import { z } from 'zod'

export function addSampling(server: Server): void {
  server
    .tool(
      'test_sampling',
      { description: 'Sends a prompt to the client’s model', input: z.object({ prompt: z.string() }) },
      async ({ prompt }, ctx) => `LLM response: ${textOf(await ctx.sample('answer', createParams(prompt)))}`,
    )
    .tool(
      'test_missing_capability',
      { description: 'Fails for clients without the sampling capability' },
      async (_, ctx) => textOf(await ctx.sample('answer', createParams('Are you there?'))),
    )
}

function createParams(text: string) {
  return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }], maxTokens: 100 }
}

export function textOf({ content }: CreateMessageResult): string {
  const blocks = Array.isArray(content) ? content : [content]
  return blocks.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n')
}
