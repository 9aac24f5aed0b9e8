import { type Revision, stripFor, stripParamsFor } from '@mcpx/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errata } from './errata.ts'
import { type Definitions, type JsonSchema, officialSchemas } from './official.ts'
import { createValidator, type Edit, rejectUnknownMembers, type Validator } from './official-validator.ts'
import { samplesOf } from './sample.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`strip.test.ts: FC_SEED=${seed}`)

const RUNS = 150
const legacySchemas = officialSchemas.filter(({ revision }) => revision < '2026-07-28')

/** Objects with members that the schema does not define: schemas of tools and metadata. */
const open = new Set(['inputSchema', 'outputSchema', '_meta'])

/** Allows `extensions`, which legacy peers send although the schema does not know it. */
const withExtensions: Edit = (definitions) => {
  for (const name of ['ClientCapabilities', 'ServerCapabilities']) {
    const capabilities = definitions[name] as JsonSchema
    capabilities.properties = { ...capabilities.properties, extensions: {} }
  }
}

function createStrictValidator(revision: Revision): Validator {
  const schema = officialSchemas.find((each) => each.revision === revision)
  if (schema === undefined) throw new Error(revision)
  const corrections = errata.filter(({ revisions }) => revisions.includes(revision)).map(({ edit }) => edit)
  return createValidator(schema, [
    ...corrections,
    ...(revision === '2025-11-25' ? [withExtensions] : []),
    rejectUnknownMembers((name) => open.has(name)),
  ])
}

/** The newest definitions, with the additional members of the last legacy revision. */
function newest(): Definitions {
  const [november, modern] = officialSchemas.slice(-2).map(({ definitions }) => structuredClone(definitions))
  const definitions = { ...november, ...modern } as Definitions
  for (const name of ['ClientCapabilities', 'ServerCapabilities']) {
    const both = { ...november?.[name]?.properties, ...modern?.[name]?.properties }
    definitions[name] = { ...definitions[name], properties: both }
  }
  const tool = definitions.Tool as { properties: Record<string, JsonSchema> }
  tool.properties.execution = { $ref: '#/$defs/ToolExecution' }
  tool.properties.inputSchema = {
    type: 'object',
    required: ['type'],
    properties: {
      type: { const: 'object' },
      properties: { type: 'object', additionalProperties: { enum: [true, false, {}, { type: 'number' }] } },
    },
  }
  tool.properties.outputSchema = {
    enum: [{ type: 'object' }, { type: 'array' }, { anyOf: [] }, { type: 'object', properties: { a: true } }],
  }
  return definitions
}

const definitions = newest()
const sampled = (name: string) => fc.sample(samplesOf(definitions, name), { seed, numRuns: RUNS }) as object[]

/** Checks that a function does not change its argument. */
function expectUnchanged<T>(value: T, use: (value: T) => unknown): unknown {
  const before = JSON.stringify(value)
  const result = use(value)
  expect(JSON.stringify(value)).toBe(before)
  return result
}

const results = [
  ['initialize', 'InitializeResult', '2024-11-05'],
  ['tools/list', 'ListToolsResult', '2024-11-05'],
  ['tools/call', 'CallToolResult', '2024-11-05'],
  ['resources/list', 'ListResourcesResult', '2024-11-05'],
  ['resources/templates/list', 'ListResourceTemplatesResult', '2024-11-05'],
  ['resources/read', 'ReadResourceResult', '2024-11-05'],
  ['prompts/list', 'ListPromptsResult', '2024-11-05'],
  ['prompts/get', 'GetPromptResult', '2024-11-05'],
  ['completion/complete', 'CompleteResult', '2024-11-05'],
  ['sampling/createMessage', 'CreateMessageResult', '2024-11-05'],
  ['roots/list', 'ListRootsResult', '2024-11-05'],
] as const

const params = [
  ['initialize', 'InitializeRequestParams', 'InitializeRequest', '2024-11-05'],
  ['tools/call', 'CallToolRequestParams', 'CallToolRequest', '2024-11-05'],
  ['resources/read', 'ReadResourceRequestParams', 'ReadResourceRequest', '2024-11-05'],
  ['prompts/get', 'GetPromptRequestParams', 'GetPromptRequest', '2024-11-05'],
  ['completion/complete', 'CompleteRequestParams', 'CompleteRequest', '2024-11-05'],
  ['sampling/createMessage', 'CreateMessageRequestParams', 'CreateMessageRequest', '2024-11-05'],
  ['elicitation/create', 'ElicitRequestFormParams', 'ElicitRequest', '2025-06-18'],
  ['notifications/progress', 'ProgressNotificationParams', 'ProgressNotification', '2024-11-05'],
  ['notifications/message', 'LoggingMessageNotificationParams', 'LoggingMessageNotification', '2024-11-05'],
  ['notifications/resources/updated', 'ResourceUpdatedNotificationParams', 'ResourceUpdatedNotification', '2024-11-05'],
] as const

describe.each(legacySchemas.map(({ revision }) => [revision] as const))('a strict peer of %s', (revision) => {
  const accepts = createStrictValidator(revision)

  it.each(results.filter(([, , since]) => revision >= since))(
    'accepts stripped results of %s',
    (method, definition) => {
      for (const result of sampled(definition)) {
        const stripped = expectUnchanged(result, (each) => stripFor(revision, method, each))
        expect([stripped, accepts(definition, stripped)]).toEqual([stripped, true])
      }
    },
  )

  it.each(params.filter(([, , , since]) => revision >= since))(
    'accepts stripped parameters of %s',
    (method, source, definition) => {
      for (const each of sampled(source)) {
        const stripped = expectUnchanged(each, (value) => stripParamsFor(revision, method, value))
        const isBare = revision < '2025-11-25'
        const frame = isBare ? {} : { jsonrpc: '2.0', ...(method.startsWith('notifications/') ? {} : { id: 1 }) }
        const message = { ...frame, method, params: stripped }
        expect([message, accepts(definition, message)]).toEqual([message, true])
      }
    },
  )
})

describe('a strict peer', () => {
  it('rejects results that are not stripped', () => {
    const accepts = createStrictValidator('2025-11-25')
    expect(sampled('CallToolResult').some((result) => accepts('CallToolResult', result))).toBe(false)
    expect(sampled('ListToolsResult').some((result) => accepts('ListToolsResult', result))).toBe(false)
  })
})
