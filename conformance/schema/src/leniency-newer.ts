/** Leniency for older revisions: shapes of newer revisions are accepted. */
import { addNewerDefinitions, allowAlso, allowAnything, combineEdits, replaceSchema } from './edits.ts'
import { LEGACY, type Leniency, WITHOUT_ENVELOPE } from './leniency-entry.ts'
import { type JsonSchema, type OfficialSchema, officialSchemas } from './official.ts'

const november = officialSchemas.find(({ revision }) => revision === '2025-11-25') as OfficialSchema
const jsonSchema: JsonSchema = { type: 'object', properties: { $schema: { type: 'string' } } }
const refTo = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` })

const blockNames = ['AudioContent', 'ResourceLink', 'ImageContent', 'TextContent', 'EmbeddedResource']
const samplingContent: JsonSchema = {
  anyOf: [refTo('NewSamplingMessageContentBlock'), { type: 'array', items: refTo('NewSamplingMessageContentBlock') }],
}

export const newerShapeLeniencies: readonly Leniency[] = [
  {
    title: 'content kinds of newer revisions',
    reason: 'One shape serves all revisions. Messages are converted to the revision when they are sent.',
    revisions: ['2024-11-05', '2025-03-26'],
    seenIn: ['CallToolResult', 'PromptMessage'],
    edit: combineEdits(
      addNewerDefinitions(november, ...blockNames),
      allowAlso('PromptMessage > content', { anyOf: blockNames.map((name) => refTo(`New${name}`)) }),
      allowAlso('CallToolResult > content > []', { anyOf: blockNames.map((name) => refTo(`New${name}`)) }),
    ),
  },
  {
    title: 'sampling content of newer revisions',
    reason: 'One shape serves all revisions. Messages are converted to the revision when they are sent.',
    revisions: WITHOUT_ENVELOPE,
    seenIn: ['SamplingMessage', 'CreateMessageResult'],
    edit: combineEdits(
      addNewerDefinitions(november, 'SamplingMessageContentBlock'),
      allowAlso('SamplingMessage > content', samplingContent),
      allowAlso('CreateMessageResult > content', samplingContent),
    ),
  },
  {
    title: 'form fields and form values of newer revisions',
    reason: 'One shape serves all revisions. Messages are converted to the revision when they are sent.',
    revisions: ['2025-06-18'],
    seenIn: ['PrimitiveSchemaDefinition', 'ElicitResult'],
    edit: combineEdits(
      addNewerDefinitions(november, 'PrimitiveSchemaDefinition'),
      allowAlso('PrimitiveSchemaDefinition', refTo('NewPrimitiveSchemaDefinition')),
      allowAlso('ElicitResult > content > {}', { type: 'array', items: { type: 'string' } }),
    ),
  },
  {
    title: 'structured content of any kind',
    reason:
      'A newer revision allows any value, and one shape serves all. Messages are converted to the revision when they are sent.',
    revisions: ['2025-06-18', '2025-11-25'],
    seenIn: ['CallToolResult'],
    edit: allowAnything('CallToolResult > structuredContent'),
  },
  {
    title: 'structured content of any kind in sampling',
    reason:
      'A newer revision allows any value, and one shape serves all. Messages are converted to the revision when they are sent.',
    revisions: ['2025-11-25'],
    seenIn: ['ToolResultContent'],
    edit: allowAnything('ToolResultContent > structuredContent'),
  },
  {
    title: 'the keywords of the input schema of a tool',
    reason: 'A newer revision allows any JSON Schema of an object. Compiling the schema reports its errors.',
    revisions: LEGACY,
    seenIn: ['Tool'],
    edit: replaceSchema('Tool > inputSchema', {
      type: 'object',
      required: ['type'],
      properties: { $schema: { type: 'string' }, type: { type: 'string', const: 'object' } },
    }),
  },
  {
    title: 'the keywords of the output schema of a tool',
    reason: 'A newer revision allows any JSON Schema. Compiling the schema reports its errors.',
    revisions: ['2025-06-18', '2025-11-25'],
    seenIn: ['Tool'],
    edit: replaceSchema('Tool > outputSchema', jsonSchema),
  },
]
