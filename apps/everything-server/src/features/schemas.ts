/** Tools with schemas of zod and with plain JSON Schema, which is sent to clients unchanged. */
import type { Server } from '@mcpx/server'
import { z } from 'zod'

export function addSchemas(server: Server): void {
  server
    .tool('json_schema_2020_12_tool', { description: 'Accepts an address and a contact', input: contact }, (args) =>
      JSON.stringify(args),
    )
    .tool(
      'add',
      {
        title: 'Addition',
        description: 'Adds two numbers',
        input: z.object({ a: z.number(), b: z.number() }),
        output: z.object({ sum: z.number() }),
        annotations: { readOnlyHint: true, idempotentHint: true },
        icons: [{ src: 'https://example.com/plus.svg', mimeType: 'image/svg+xml' }],
        _meta: { 'example.com/kind': 'arithmetic' },
      },
      ({ a, b }) => ({ sum: a + b }),
    )
    .tool(
      'test_x_mcp_header',
      {
        description: 'Accepts a region, which is also sent as a header',
        input: {
          type: 'object',
          properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
          required: ['region'],
        },
      },
      ({ region }) => `Region: ${region}`,
    )
}

const contact = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}
