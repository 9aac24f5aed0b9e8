/** Asks the client's model. */
import type { CreateMessageResult } from '@mcpx/protocol'
import type { Server } from '@mcpx/server'
import { z } from 'zod'

export function addSampling(server: Server): void {
  server
    .tool(
      'test_sampling',
      { description: 'Has the client’s model answer a prompt', input: z.object({ prompt: z.string() }) },
      async ({ prompt }, ctx) => `LLM response: ${textOf(await ctx.sample('answer', question(prompt)))}`,
    )
    .tool(
      'test_missing_capability',
      { description: 'Needs a client with a model: one without is told so' },
      async (_, ctx) => textOf(await ctx.sample('answer', question('Are you there?'))),
    )
}

function question(words: string) {
  return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: words } }], maxTokens: 100 }
}

export function textOf({ content }: CreateMessageResult): string {
  const blocks = Array.isArray(content) ? content : [content]
  return blocks.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n')
}
