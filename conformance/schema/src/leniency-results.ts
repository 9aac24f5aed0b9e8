/** What we are lenient about in what the newest revision wants said of a request or a result. */
import { absent, all, anything, replaced } from './edits.ts'
import { type Leniency, MODERN } from './leniency-entry.ts'
import { type JsonSchema, officialSchemas } from './official.ts'

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

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

export const aboutResults: readonly Leniency[] = [
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
      replaced('SubscriptionsListenResult > _meta', { type: 'object' }),
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
