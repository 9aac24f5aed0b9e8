/** The rules for `server.json` that concern our output, written from the schema of 2025-12-11 of the MCP Registry. */

const url = { type: 'string', pattern: '^https?://[^\\s]+$' }

export const REGISTRY_SCHEMA = {
  type: 'object',
  required: ['$schema', 'name', 'description', 'version'],
  additionalProperties: false,
  properties: {
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
    name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
    title: { type: 'string', minLength: 1, maxLength: 100 },
    description: { type: 'string', minLength: 1, maxLength: 100 },
    version: { type: 'string', maxLength: 255 },
    websiteUrl: url,
    repository: {
      type: 'object',
      required: ['url', 'source'],
      additionalProperties: false,
      properties: { url, source: { type: 'string' }, subfolder: { type: 'string' } },
    },
    packages: {
      type: 'array',
      items: {
        type: 'object',
        required: ['registryType', 'identifier', 'transport'],
        additionalProperties: false,
        properties: {
          registryType: { enum: ['npm'] },
          identifier: { type: 'string' },
          version: { type: 'string', minLength: 1, not: { const: 'latest' } },
          runtimeHint: { type: 'string' },
          transport: { type: 'object', required: ['type'], properties: { type: { const: 'stdio' } } },
          environmentVariables: {
            type: 'array',
            items: {
              type: 'object',
              required: ['name'],
              additionalProperties: false,
              properties: {
                name: { type: 'string' },
                description: { type: 'string' },
                isRequired: { type: 'boolean' },
                isSecret: { type: 'boolean' },
              },
            },
          },
        },
      },
    },
    remotes: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'url'],
        additionalProperties: false,
        properties: { type: { const: 'streamable-http' }, url },
      },
    },
  },
}
