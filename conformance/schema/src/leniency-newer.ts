/** What we take from older peers because a newer revision has it. */
import { all, anything, borrowed, orElse, replaced } from './edits.ts'
import { FRAMELESS, LEGACY, type Leniency } from './leniency-entry.ts'
import { type JsonSchema, type OfficialSchema, officialSchemas } from './official.ts'

const november = officialSchemas.find(({ revision }) => revision === '2025-11-25') as OfficialSchema
const jsonSchema: JsonSchema = { type: 'object', properties: { $schema: { type: 'string' } } }
const refTo = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` })

const blockNames = ['AudioContent', 'ResourceLink', 'ImageContent', 'TextContent', 'EmbeddedResource']
const samplingContent: JsonSchema = {
  anyOf: [refTo('NewSamplingMessageContentBlock'), { type: 'array', items: refTo('NewSamplingMessageContentBlock') }],
}

export const aboutNewerShapes: readonly Leniency[] = [
  {
    what: 'content that came later',
    why: 'One shape serves all revisions, and a client that can show newer content may. What is sent is cut to the revision.',
    revisions: ['2024-11-05', '2025-03-26'],
    seenIn: ['CallToolResult', 'PromptMessage'],
    edit: all(
      borrowed(november, ...blockNames),
      orElse('PromptMessage > content', { anyOf: blockNames.map((name) => refTo(`New${name}`)) }),
      orElse('CallToolResult > content > []', { anyOf: blockNames.map((name) => refTo(`New${name}`)) }),
    ),
  },
  {
    what: 'sampling content that came later',
    why: 'One shape serves all revisions. What is sent is cut to the revision.',
    revisions: FRAMELESS,
    seenIn: ['SamplingMessage', 'CreateMessageResult'],
    edit: all(
      borrowed(november, 'SamplingMessageContentBlock'),
      orElse('SamplingMessage > content', samplingContent),
      orElse('CreateMessageResult > content', samplingContent),
    ),
  },
  {
    what: 'form fields, and values of forms, that came later',
    why: 'One shape serves all revisions. What is sent is cut to the revision.',
    revisions: ['2025-06-18'],
    seenIn: ['PrimitiveSchemaDefinition', 'ElicitResult'],
    edit: all(
      borrowed(november, 'PrimitiveSchemaDefinition'),
      orElse('PrimitiveSchemaDefinition', refTo('NewPrimitiveSchemaDefinition')),
      orElse('ElicitResult > content > {}', { type: 'array', items: { type: 'string' } }),
    ),
  },
  {
    what: 'structured content of any kind',
    why: 'A newer revision allows any value, and one shape serves all. What is sent is cut to the revision.',
    revisions: ['2025-06-18', '2025-11-25'],
    seenIn: ['CallToolResult'],
    edit: anything('CallToolResult > structuredContent'),
  },
  {
    what: 'structured content of any kind, in sampling',
    why: 'A newer revision allows any value, and one shape serves all. What is sent is cut to the revision.',
    revisions: ['2025-11-25'],
    seenIn: ['ToolResultContent'],
    edit: anything('ToolResultContent > structuredContent'),
  },
  {
    what: 'what is in the input schema of a tool',
    why: 'A newer revision allows any JSON Schema of an object there. Who compiles it finds what is wrong with it.',
    revisions: LEGACY,
    seenIn: ['Tool'],
    edit: replaced('Tool > inputSchema', {
      type: 'object',
      required: ['type'],
      properties: { $schema: { type: 'string' }, type: { type: 'string', const: 'object' } },
    }),
  },
  {
    what: 'what is in the output schema of a tool',
    why: 'A newer revision allows any JSON Schema there. Who compiles it finds what is wrong with it.',
    revisions: ['2025-06-18', '2025-11-25'],
    seenIn: ['Tool'],
    edit: replaced('Tool > outputSchema', jsonSchema),
  },
]
