/** Leniency for members that the newest revision requires in requests and results. */
import { allowAnything, combineEdits, makeOptional, replaceSchema } from './edits.ts'
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

export const resultLeniencies: readonly Leniency[] = [
  {
    title: 'a result without resultType',
    reason: 'The specification says that clients read it as complete. The library always sends it.',
    revisions: MODERN,
    seenIn: results,
    edit: makeOptional(...[...results, 'SubscriptionsListenResult'].map((name) => `${name} > resultType`)),
  },
  {
    title: 'a cacheable result without cache hints',
    reason: 'It is read as stale and private: a result that cannot be cached is still a result.',
    revisions: MODERN,
    seenIn: cacheable,
    edit: makeOptional(...cacheable.flatMap((name) => [`${name} > ttlMs`, `${name} > cacheScope`])),
  },
  {
    title: 'a ttlMs that is negative or a fraction',
    reason: 'schema.ts says number; a negative value is read as 0.',
    revisions: MODERN,
    seenIn: cacheable,
    edit: combineEdits(...cacheable.map((name) => replaceSchema(`${name} > ttlMs`, { type: 'number' }))),
  },
  {
    title: 'more than 100 completion values',
    reason: 'The limit applies to servers; a client can show the first values.',
    revisions: MODERN,
    seenIn: ['CompleteResult'],
    edit: replaceSchema('CompleteResult > completion > values', { type: 'array', items: { type: 'string' } }),
  },
  {
    title: 'an invalid serverInfo',
    reason: 'Clients must not depend on it, so an invalid one counts as absent.',
    revisions: MODERN,
    seenIn: ['ResultMetaObject', 'SubscriptionsListenResultMetaObject'],
    edit: allowAnything(`ResultMetaObject > ${SERVER_INFO}`, `SubscriptionsListenResultMetaObject > ${SERVER_INFO}`),
  },
  {
    title: 'an invalid subscriptionId',
    reason:
      'A notification without a valid id belongs to no subscription, and the final result ends its request anyway.',
    revisions: MODERN,
    seenIn: ['NotificationMetaObject', 'SubscriptionsListenResult'],
    edit: combineEdits(
      allowAnything(`NotificationMetaObject > ${SUBSCRIPTION_ID}`),
      makeOptional('SubscriptionsListenResult > _meta'),
      replaceSchema('SubscriptionsListenResult > _meta', { type: 'object' }),
    ),
  },
  {
    title: 'the clientInfo and the log level of a request with an unknown revision',
    reason: 'The request is rejected for its revision, so its other members are not checked.',
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
