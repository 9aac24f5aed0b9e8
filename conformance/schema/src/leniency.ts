/**
 * Where we take what the official schemas refuse, and why. Each entry makes the official schema say what we do, so that
 * the two must agree on every value; and each must be needed for some value, or the test fails.
 */
import type { Revision } from '@mcpx/protocol'
import { absent, all, anything, borrowed, everywhere, orElse, replaced } from './edits.ts'
import type { Edit } from './judge.ts'
import { type JsonSchema, type OfficialSchema, officialSchemas } from './official.ts'

export interface Leniency {
  readonly what: string
  readonly why: string
  readonly revisions: readonly Revision[]
  /** Definitions in which the difference shows. */
  readonly seenIn: readonly string[]
  readonly edit: Edit
}

const MODERN = ['2026-07-28'] as const
const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
const FRAMELESS = ['2024-11-05', '2025-03-26', '2025-06-18'] as const
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

const november = officialSchemas.find(({ revision }) => revision === '2025-11-25') as OfficialSchema

const someObject: JsonSchema = { type: 'object' }
const jsonSchema: JsonSchema = { type: 'object', properties: { $schema: { type: 'string' } } }
const refTo = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` })

const cacheable = [
  'CacheableResult',
  'DiscoverResult',
  'ListPromptsResult',
  'ListResourceTemplatesResult',
  'ListResourcesResult',
  'ListToolsResult',
  'ReadResourceResult',
]
const results = [...cacheable, 'CallToolResult', 'CompleteResult', 'GetPromptResult', 'PaginatedResult', 'Result']

const modernResults: readonly Leniency[] = [
  {
    what: 'a result without resultType',
    why: 'The specification has clients read it as complete. What the library sends always has it.',
    revisions: MODERN,
    seenIn: results,
    edit: absent(...[...results, 'SubscriptionsListenResult'].map((name) => `${name} > resultType`)),
  },
  {
    what: 'a cacheable result without cache hints',
    why: 'It is read as stale and private: an answer that cannot be kept is still an answer.',
    revisions: MODERN,
    seenIn: cacheable,
    edit: absent(...cacheable.flatMap((name) => [`${name} > ttlMs`, `${name} > cacheScope`])),
  },
  {
    what: 'a ttlMs that is negative or a fraction',
    why: 'schema.ts says number; a negative one is read as 0.',
    revisions: MODERN,
    seenIn: cacheable,
    edit: all(...cacheable.map((name) => replaced(`${name} > ttlMs`, { type: 'number' }))),
  },
  {
    what: 'more than 100 proposals',
    why: 'The limit binds the server, where it is kept; a client can show the first ones.',
    revisions: MODERN,
    seenIn: ['CompleteResult'],
    edit: replaced('CompleteResult > completion > values', { type: 'array', items: { type: 'string' } }),
  },
  {
    what: 'a serverInfo that is none',
    why: 'Nothing may depend on it, so it fails no result: it is read by hand, and then counts as absent.',
    revisions: MODERN,
    seenIn: ['ResultMetaObject', 'SubscriptionsListenResultMetaObject'],
    edit: anything(`ResultMetaObject > ${SERVER_INFO}`, `SubscriptionsListenResultMetaObject > ${SERVER_INFO}`),
  },
  {
    what: 'a subscriptionId that is none',
    why: 'It is read by hand; a message without one belongs to no subscription, and the last result ends its request anyway.',
    revisions: MODERN,
    seenIn: ['NotificationMetaObject', 'SubscriptionsListenResult'],
    edit: all(
      anything(`NotificationMetaObject > ${SUBSCRIPTION_ID}`),
      absent('SubscriptionsListenResult > _meta'),
      replaced('SubscriptionsListenResult > _meta', someObject),
    ),
  },
  {
    what: 'the name and the log level of a client that speaks no revision that exists',
    why: 'The request is refused for its version, with the list of those that are served; nothing else of it matters.',
    revisions: MODERN,
    seenIn: ['RequestMetaObject'],
    edit: (definitions) => {
      const meta = definitions.RequestMetaObject as JsonSchema
      const { required, properties = {} } = meta
      const version = 'io.modelcontextprotocol/protocolVersion'
      const capabilities = 'io.modelcontextprotocol/clientCapabilities'
      const unknown = {
        type: 'object',
        required,
        properties: {
          [version]: { type: 'string', not: { enum: officialSchemas.map(({ revision }) => revision) } },
          [capabilities]: properties[capabilities],
          progressToken: properties.progressToken,
        },
      } as JsonSchema
      definitions.RequestMetaObject = { anyOf: [{ ...meta }, unknown] }
    },
  },
]

const cancellations: readonly Leniency[] = [
  {
    what: 'a cancellation that names no request',
    why: 'A cancellation that says nothing of use is ignored; there is nobody to answer that it was wrong.',
    revisions: [...FRAMELESS],
    seenIn: ['CancelledNotification'],
    edit: absent('CancelledNotification > params > requestId', 'CancelledNotification > params'),
  },
  {
    what: 'a cancellation that names no request',
    why: 'A cancellation that says nothing of use is ignored; there is nobody to answer that it was wrong.',
    revisions: ['2025-11-25'],
    seenIn: ['CancelledNotification'],
    edit: absent('CancelledNotification > params'),
  },
  {
    what: 'a cancellation that names no request',
    why: 'A cancellation that says nothing of use is ignored; there is nobody to answer that it was wrong.',
    revisions: MODERN,
    seenIn: ['CancelledNotificationParams', 'CancelledNotification', 'ClientNotification'],
    edit: all(absent('CancelledNotificationParams > requestId', 'CancelledNotification > params'), (definitions) => {
      definitions.ClientNotification = { $ref: '#/$defs/CancelledNotification' }
    }),
  },
]

const frames: readonly Leniency[] = [
  {
    what: 'metadata of any kind, as far as the codec is concerned',
    why: 'The codec checks the frame of a message only; parameters and results are checked by what the method says.',
    revisions: FRAMELESS,
    seenIn: ['JSONRPCRequest', 'JSONRPCNotification', 'JSONRPCResponse', 'Request', 'Notification'],
    edit: all(
      ...['JSONRPCRequest', 'JSONRPCNotification', 'Request', 'Notification'].map((name) =>
        replaced(`${name} > params`, someObject),
      ),
      replaced('JSONRPCResponse > result', someObject),
    ),
  },
  {
    what: 'metadata of any kind, as far as the codec is concerned',
    why: 'The codec checks the frame of a message only; parameters and results are checked by what the method says.',
    revisions: ['2025-11-25', '2026-07-28'],
    seenIn: ['JSONRPCResultResponse'],
    edit: replaced('JSONRPCResultResponse > result', someObject),
  },
  {
    what: 'an error without the id of a request, or with null for one',
    why: 'JSON-RPC has null where an id could not be read, and newer revisions leave it out: both are taken for no id.',
    revisions: FRAMELESS,
    seenIn: ['JSONRPCError'],
    edit: all(absent('JSONRPCError > id'), orElse('JSONRPCError > id', { type: 'null' })),
  },
  {
    what: 'an error with null for an id',
    why: 'JSON-RPC has null where an id could not be read: it is taken for no id.',
    revisions: ['2025-11-25'],
    seenIn: ['JSONRPCErrorResponse'],
    edit: nullId('JSONRPCErrorResponse', 'URLElicitationRequiredError'),
  },
  {
    what: 'an error with null for an id',
    why: 'JSON-RPC has null where an id could not be read: it is taken for no id.',
    revisions: MODERN,
    seenIn: ['JSONRPCErrorResponse'],
    edit: nullId(
      'JSONRPCErrorResponse',
      'HeaderMismatchError',
      'MissingRequiredClientCapabilityError',
      'UnsupportedProtocolVersionError',
    ),
  },
]

function nullId(...names: string[]): Edit {
  return all(...names.map((name) => orElse(`${name} > id`, { type: 'null' })))
}

const blockNames = ['AudioContent', 'ResourceLink', 'ImageContent', 'TextContent', 'EmbeddedResource']
const samplingContent: JsonSchema = {
  anyOf: [refTo('NewSamplingMessageContentBlock'), { type: 'array', items: refTo('NewSamplingMessageContentBlock') }],
}

const newerShapes: readonly Leniency[] = [
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

const formats: Leniency = {
  what: 'formats (uri, uri-template, byte) are not checked',
  why: 'Peers send URIs that are none, and checking base64 costs as much as decoding it: who uses them checks them.',
  revisions: [...LEGACY, ...MODERN],
  seenIn: ['Resource', 'ResourceTemplate', 'ImageContent', 'Root'],
  edit: everywhere((schema) => {
    if (typeof schema.format === 'string' && schema.type === 'string') delete schema.format
  }),
}

/** In the order in which they are applied: `formats` also has to reach what the others bring. */
export const leniencies: readonly Leniency[] = [...modernResults, ...cancellations, ...frames, ...newerShapes, formats]
