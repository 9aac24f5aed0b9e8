/** Lets pages of other origins call and read the answers: https://fetch.spec.whatwg.org/#http-cors-protocol. */

import {
  LAST_EVENT_HEADER,
  METHOD_HEADER,
  NAME_HEADER,
  PARAM_HEADER_PREFIX,
  SESSION_HEADER,
  VERSION_HEADER,
} from '../headers.ts'
import type { EndpointOptions } from './options.ts'

/** What pages may send. The names of mirrored arguments are those of the tools: each page asks for its own. */
const SENT = [
  'accept',
  'authorization',
  'content-type',
  'dpop',
  LAST_EVENT_HEADER,
  METHOD_HEADER,
  NAME_HEADER,
  VERSION_HEADER,
  SESSION_HEADER,
  'traceparent',
  'tracestate',
  'baggage',
]
/** What pages may read. */
const READ = [SESSION_HEADER, VERSION_HEADER, 'www-authenticate', 'dpop-nonce', 'retry-after'].join(', ')
/** How long a browser may remember a preflight, in seconds. */
const MAX_AGE = '7200'

export interface Cors {
  /** The answer to a preflight. */
  preflight(request: Request): Response
  /** The same response, readable by the page that asked. */
  open(request: Request, response: Response): Response
}

/** Nothing when pages of other origins are not let in. The origin itself is checked before. */
export function createCors({ cors, allowedOrigins }: EndpointOptions): Cors | undefined {
  if (cors === undefined || cors === false) return undefined
  const anyOrigin = allowedOrigins === '*' && cors === true

  function addOrigin(headers: Headers, origin: string): void {
    headers.set('access-control-allow-origin', anyOrigin ? '*' : origin)
    if (!anyOrigin) headers.append('vary', 'Origin')
    headers.set('access-control-expose-headers', READ)
  }

  return {
    preflight(request) {
      const asked = (request.headers.get('access-control-request-headers') ?? '').toLowerCase().split(',')
      const mirrored = asked.map((name) => name.trim()).filter((name) => name.startsWith(PARAM_HEADER_PREFIX))
      const headers = new Headers({
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': [...SENT, ...mirrored].join(', '),
        'access-control-max-age': MAX_AGE,
      })
      headers.append('vary', 'Access-Control-Request-Headers')
      addOrigin(headers, request.headers.get('origin') ?? '')
      return new Response(null, { status: 204, headers })
    },
    open(request, response) {
      const origin = request.headers.get('origin')
      if (origin === null) return response
      const open = new Response(response.body, response)
      addOrigin(open.headers, origin)
      return open
    },
  }
}
