/** Tools that others describe, such as in a file: what is wrong with one is said, and the others are there all the same. */
import { assertObjectRoot, createJsonSchemaValidator, JsonSchemaError, SUPPORTED_DIALECTS } from '@mcpx/json-schema'
import { RegistrationError, type Server } from '@mcpx/server'

/**
 * Checks plain JSON Schemas for the whole server. Others write them, so they get less room than one's own would; what a `format`
 * names is for people here, and regular expressions are not run at all.
 */
export const validator = createJsonSchemaValidator({
  formats: 'annotate',
  patterns: 'annotate',
  maxDepth: 32,
  maxSubschemas: 1_000,
  maxSteps: 100_000,
  maxProblems: 4,
})

interface Plugin {
  readonly name: string
  readonly input: unknown
}

const plugins: readonly Plugin[] = [
  { name: 'greet', input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
  { name: 'greet', input: { type: 'object' } },
  { name: 'shout', input: { type: 'string' } },
  { name: 'whisper', input: { $schema: 'https://json-schema.org/draft/2019-09/schema', type: 'object' } },
]

export function addPlugins(server: Server): void {
  const problems = plugins.flatMap((plugin) => problemOf(plugin, server))
  server.tool('plugin_problems', { description: 'What is wrong with the tools of others' }, () => problems.join('\n'))
}

function problemOf({ name, input }: Plugin, server: Server): string[] {
  try {
    assertObjectRoot(input)
    validator.compile(input)
    server.tool(name, { description: 'A tool of others', input }, (given) => `${name}: ${JSON.stringify(given)}`)
    return []
  } catch (error) {
    if (error instanceof RegistrationError) return [error.message]
    if (!(error instanceof JsonSchemaError)) throw error
    const dialects = error.reason === 'dialect' ? ` (known are ${SUPPORTED_DIALECTS.join(' and ')})` : ''
    return [`${name}: ${error.message}${dialects}`]
  }
}
