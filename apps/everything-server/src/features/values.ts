/** A tool, a resource and a prompt as values. Other files add them. */
import { definePrompt, defineResource, defineTool } from '@mcpx/server'

export const simpleText = defineTool(
  'test_simple_text',
  { description: 'Returns text' },
  () => 'This is a simple text response for testing.',
)

export const staticText = defineResource(
  'test://static-text',
  { name: 'Static text', description: 'A text resource', cache: { ttlMs: 60_000, cacheScope: 'public' } },
  'This is the content of the static text resource.',
)

export const simplePrompt = definePrompt(
  'test_simple_prompt',
  { description: 'A prompt' },
  () => 'This is a simple prompt for testing.',
)
