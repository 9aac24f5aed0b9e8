/** The names of the HTTP headers that the protocol gives a meaning, and the values this package writes. */

export const VERSION_HEADER = 'mcp-protocol-version'
export const METHOD_HEADER = 'mcp-method'
export const NAME_HEADER = 'mcp-name'
/** What the headers of mirrored arguments begin with. */
export const PARAM_HEADER_PREFIX = 'mcp-param-'
export const SESSION_HEADER = 'mcp-session-id'
export const LAST_EVENT_HEADER = 'last-event-id'

export const JSON_TYPE = 'application/json'
export const EVENTS_TYPE = 'text/event-stream'

/** What keeps an event stream from being cached, rewritten or held back on its way. */
export const EVENTS_HEADERS: Record<string, string> = {
  'content-type': EVENTS_TYPE,
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** Which parameter of a request travels as `Mcp-Name` too, by its method. */
export const NAME_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])
