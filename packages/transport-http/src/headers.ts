/** The names of the HTTP headers that the protocol defines, and the header values that this package sends. */

export const VERSION_HEADER = 'mcp-protocol-version'
export const METHOD_HEADER = 'mcp-method'
export const NAME_HEADER = 'mcp-name'
/** The prefix of the headers that repeat arguments of tools. */
export const PARAM_HEADER_PREFIX = 'mcp-param-'
export const SESSION_HEADER = 'mcp-session-id'
export const LAST_EVENT_HEADER = 'last-event-id'

export const JSON_TYPE = 'application/json'
export const EVENTS_TYPE = 'text/event-stream'

/** The headers of an event stream. They prevent proxies from caching, changing or buffering the stream. */
export const EVENTS_HEADERS: Record<string, string> = {
  'content-type': EVENTS_TYPE,
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** The parameter that is repeated in the `Mcp-Name` header, by method. */
export const NAME_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])
