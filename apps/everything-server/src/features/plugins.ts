/** Tools with schemas from plugins. An invalid plugin is reported, and the others are registered. */
import { assertObjectRoot, createJsonSchemaValidator, JsonSchemaError, SUPPORTED_DIALECTS } from '@mcpx/json-schema'
import { RegistrationError, type Server } from '@mcpx/server'

/** The JSON Schema validator of the server. Plugin schemas are not trusted, so its limits are low, `format` is not checked,
 * and regular expressions are not run.
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
  { name: 'wave', input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
  { name: 'wave', input: { type: 'object' } },
  { name: 'shout', input: { type: 'string' } },
  { name: 'whisper', input: { $schema: 'https://json-schema.org/draft/2019-09/schema', type: 'object' } },
]

export function addPlugins(server: Server): void {
  const problems = plugins.flatMap((plugin) => registerPlugin(plugin, server))
  server.tool('plugin_problems', { description: 'Returns the errors of invalid plugins' }, () => problems.join('\n'))
}

function registerPlugin({ name, input }: Plugin, server: Server): string[] {
  try {
    assertObjectRoot(input)
    validator.compile(input)
    server.tool(name, { description: 'A tool of a plugin', input }, (args) => `${name}: ${JSON.stringify(args)}`)
    return []
  } catch (error) {
    if (error instanceof RegistrationError) return [error.message]
    if (!(error instanceof JsonSchemaError)) throw error
    const dialects = error.reason === 'dialect' ? ` (known are ${SUPPORTED_DIALECTS.join(' and ')})` : ''
    return [`${name}: ${error.message}${dialects}`]
  }
}
