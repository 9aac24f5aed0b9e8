/** Middleware before the endpoint: hosts and origins, CORS, and authentication. */

import { type AuthInfo, type Guard, invalidRequest } from '@mcpx/protocol'
import type { Context, MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import {
  EVENTS_TYPE,
  JSON_TYPE,
  LAST_EVENT_HEADER,
  METHOD_HEADER,
  NAME_HEADER,
  PARAM_HEADER_PREFIX,
  SESSION_HEADER,
  VERSION_HEADER,
} from '../headers.ts'
import { bindingsOf } from './http-request.ts'
import type { EndpointOptions } from './options.ts'
import { asError, refusal } from './responses.ts'

export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

type Allowed = readonly string[] | '*'

/** Refuses hosts and origins that are not allowed: no web page may reach a local server through its visitor. */
export function hostAndOriginGuard(options: EndpointOptions): MiddlewareHandler {
  const { allowedHosts = LOOPBACK_HOSTS, allowedOrigins } = options
  const hosts = lowerCase(allowedHosts)
  const origins = allowedOrigins === undefined ? undefined : lowerCase(allowedOrigins)
  const corsOrigins = Array.isArray(options.cors) ? lowerCase(options.cors) : []

  function isAllowedOrigin(origin: string, host: string): boolean {
    const wanted = origin.toLowerCase()
    if (corsOrigins.includes(wanted)) return true
    if (origins !== undefined) return origins === '*' || origins.includes(wanted)
    if (!URL.canParse(wanted)) return false
    const page = new URL(wanted).host
    return hosts === '*' ? page === host.toLowerCase() : isAllowedHost(page, hosts)
  }

  return async (context, next) => {
    const host = hostOf(context)
    if (!isAllowedHost(host.toLowerCase(), hosts)) return forbidden('Host', host, 'allowedHosts')
    const origin = context.req.raw.headers.get('origin')
    if (origin !== null && !isAllowedOrigin(origin, host)) return forbidden('Origin', origin, 'allowedOrigins')
    return next()
  }
}

function lowerCase(allowed: Allowed): Allowed {
  return allowed === '*' ? allowed : allowed.map((each) => each.toLowerCase())
}

/** An entry without a port stands for every port. */
function isAllowedHost(host: string, hosts: Allowed): boolean {
  return hosts === '*' || hosts.includes(host) || hosts.includes(host.replace(/:\d+$/, ''))
}

/** The host of a target with a host counts: https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2. Two Host headers never match. */
function hostOf(context: Context): string {
  const header = context.req.raw.headers.get('host')
  const isAbsolute = bindingsOf(context).incoming?.url?.startsWith('http') === true
  if (header !== null && (!isAbsolute || header.includes(','))) return header
  const { url } = context.req.raw
  const start = url.indexOf('//') + 2
  return url.slice(start, url.indexOf('/', start))
}

const SHOWN = 100

function forbidden(header: string, value: string, option: string): Response {
  const shown = JSON.stringify(value.slice(0, SHOWN))
  return refusal(403, invalidRequest(`${header} ${shown} is not allowed here: add it to the option ${option}`))
}

/** The headers that pages may send. Each page asks for those of mirrored arguments by name. */
const REQUEST_HEADERS = [
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
/** The headers that pages may read. */
const RESPONSE_HEADERS = [SESSION_HEADER, VERSION_HEADER, 'www-authenticate', 'dpop-nonce', 'retry-after']
/** The time that a browser may cache a preflight, in seconds. */
const MAX_AGE = 7200

/** Lets pages of other origins read the responses. The origin itself was checked before. */
export function corsMiddleware({ cors: allowed, allowedOrigins }: EndpointOptions): MiddlewareHandler {
  const isAnyOrigin = allowedOrigins === '*' && allowed === true
  return async (context, next) => {
    const { req } = context
    const origin = req.header('origin')
    if (origin === undefined) return next()
    const isPreflight = req.header('access-control-request-method') !== undefined
    if (req.method === 'OPTIONS' && !isPreflight) return next()
    const asked = (req.header('access-control-request-headers') ?? '').toLowerCase().split(',')
    const mirrored = asked.map((name) => name.trim()).filter((name) => name.startsWith(PARAM_HEADER_PREFIX))
    const run = cors({
      origin: isAnyOrigin ? '*' : (each) => each,
      allowMethods: ['GET', 'POST', 'DELETE'],
      allowHeaders: [[...REQUEST_HEADERS, ...mirrored].join(', ')],
      exposeHeaders: [RESPONSE_HEADERS.join(', ')],
      maxAge: MAX_AGE,
    })
    return run(context, next)
  }
}

/** The variables that the middleware sets for the endpoint. */
export interface EndpointVariables {
  auth: AuthInfo | undefined
}

/** Identifies the caller before the body is read, or sends the response of the guard. */
export function authenticate(guard: Guard): MiddlewareHandler<{ Variables: EndpointVariables }> {
  return async (context, next) => {
    const { req } = context
    if (req.method !== 'GET' && req.method !== 'POST' && req.method !== 'DELETE') return next()
    const found = await callGuard(guard, req.raw)
    // The server of Hono for Node replaces the global Response: `instanceof` does not know all of them.
    if (found !== undefined && !('subject' in found)) return found
    context.set('auth', found)
    return next()
  }
}

async function callGuard(guard: Guard, request: Request): Promise<AuthInfo | Response | undefined> {
  let found: AuthInfo | Response | undefined
  try {
    found = await guard(request)
  } catch (error) {
    // Hono only handles errors.
    throw asError(error)
  }
  if (found !== undefined && 'status' in found && found.status === 0) {
    throw new TypeError('authenticate: expected a caller or a response with a status, got Response.error()')
  }
  return found
}

/** Serves the metadata of the guard to everybody, from any page. */
export function serveMetadata(guard: Guard): MiddlewareHandler {
  return async (context, next) => {
    if (context.req.method === 'POST') return next()
    return guard.metadata?.(context.req.raw) ?? next()
  }
}

/** Refuses a POST by its headers. A page can send any other content type without a preflight. */
export function checkPostHeaders({ headers }: Request, strictAccept: boolean): Response | undefined {
  const type = headers.get('content-type')
  if (type !== JSON_TYPE && (type === null || mediaType(type) !== JSON_TYPE)) {
    return refusal(415, invalidRequest(`Content-Type must be ${JSON_TYPE}`), undefined, { accept: JSON_TYPE })
  }
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    const shown = JSON.stringify(encoding.slice(0, SHOWN))
    const text = `Content-Encoding ${shown} is not supported: send the body without it`
    return refusal(415, invalidRequest(text), undefined, { 'accept-encoding': 'identity' })
  }
  return strictAccept ? checkAccept(headers.get('accept')) : undefined
}

function checkAccept(accept: string | null): Response | undefined {
  const missing = [JSON_TYPE, EVENTS_TYPE].find((type) => !mediaTypes(accept).includes(type))
  if (missing === undefined) return undefined
  return refusal(406, invalidRequest(`Accept must list ${JSON_TYPE} and ${EVENTS_TYPE}: ${missing} is missing`))
}

function mediaTypes(accept: string | null): readonly string[] {
  return (accept ?? '').split(',').map(mediaType)
}

const EVENTS = /(?:^|,)\s*(?:text\/event-stream|text\/\*|\*\/\*)\s*(?:[,;]|$)/i

/** Whether the client accepts an SSE stream. One that sends no Accept header does. */
export function acceptsEvents({ headers }: Request): boolean {
  const accept = headers.get('accept')
  return accept === null || EVENTS.test(accept)
}

function mediaType(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase()
}
