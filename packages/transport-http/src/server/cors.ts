/** Lets pages of other origins call and read the answers: https://fetch.spec.whatwg.org/#http-cors-protocol. */

import {
  LAST_EVENT_HEADER,
  METHOD_HEADER,
  NAME_HEADER,
  PARAM_HEADER_PREFIX,
  SESSION_HEADER,
  VERSION_HEADER,
} from '../headers.ts'
import { HttpAnswer } from './http-answer.ts'
import type { HttpRequest } from './http-request.ts'
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
  preflight(request: HttpRequest): HttpAnswer
  /** The same answer, readable by the page that asked. */
  open(request: HttpRequest, answer: HttpAnswer): HttpAnswer
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
      const asked = (request.header('access-control-request-headers') ?? '').toLowerCase().split(',')
      const mirrored = asked.map((name) => name.trim()).filter((name) => name.startsWith(PARAM_HEADER_PREFIX))
      const headers = new Headers({
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': [...SENT, ...mirrored].join(', '),
        'access-control-max-age': MAX_AGE,
      })
      headers.append('vary', 'Access-Control-Request-Headers')
      addOrigin(headers, request.header('origin') ?? '')
      return new HttpAnswer(204, headers, null)
    },
    open(request, answer) {
      const origin = request.header('origin')
      if (origin === null) return answer
      const headers = new Headers(answer.headers)
      addOrigin(headers, origin)
      return new HttpAnswer(answer.status, headers, answer.body)
    },
  }
}
