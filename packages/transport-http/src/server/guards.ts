/** Middleware that runs before the endpoint: host and origin checks, CORS, and authentication. */

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
import { Admission, callerOf, type SharedLimits } from './admission.ts'
import { bindingsOf, type EndpointVariables } from './http-request.ts'
import type { EndpointOptions } from './options.ts'
import { isVisit, refusedPage } from './page.ts'
import { asError, type HttpAnswer, refusal, toResponse } from './responses.ts'

export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

type Allowed = readonly string[] | '*'

/** Refuses hosts and origins that are not allowed, so that a web page cannot reach a local server through a browser. */
export function hostAndOriginGuard(options: EndpointOptions): MiddlewareHandler {
  const { allowedHosts = LOOPBACK_HOSTS, allowedOrigins } = options
  const hosts = lowerCase(allowedHosts)
  const origins = allowedOrigins === undefined ? undefined : lowerCase(allowedOrigins)
  const corsOrigins = Array.isArray(options.cors) ? lowerCase(options.cors) : []

  function isAllowedOrigin(origin: string, host: string): boolean {
    const wanted = origin.toLowerCase()
    if (corsOrigins.includes(wanted)) return true
    if (origins !== undefined) return origins === '*' || origins.includes(wanted)
    // Browsers send other schemes for extensions, which may have the name of any host.
    if (!URL.canParse(wanted) || !/^https?:/.test(wanted)) return false
    const page = new URL(wanted).host
    return hosts === '*' ? page === host.toLowerCase() : isAllowedHost(page, hosts)
  }

  return async (context, next) => {
    const host = hostOf(context)
    if (!isAllowedHost(host.toLowerCase(), hosts)) return forbidden(context, 'Host', host, 'allowedHosts')
    const origin = context.req.raw.headers.get('origin')
    if (origin !== null && !isAllowedOrigin(origin, host)) return forbidden(context, 'Origin', origin, 'allowedOrigins')
    try {
      await next()
    } catch (error) {
      // Hono passes only `Error` instances to `onError`.
      throw asError(error)
    }
    return
  }
}

function lowerCase(allowed: Allowed): Allowed {
  return allowed === '*' ? allowed : allowed.map((each) => each.toLowerCase())
}

/** Checks a host against the allowed ones. An entry without a port matches every port. */
function isAllowedHost(host: string, hosts: Allowed): boolean {
  return hosts === '*' || hosts.includes(host) || hosts.includes(host.replace(/:\d+$/, ''))
}

/**
 * Returns the host of a request. If the request target contains a host, that one is used instead of the Host header:
 * https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2. Two Host headers never match.
 */
function hostOf(context: Context): string {
  const header = context.req.raw.headers.get('host')
  const isAbsolute = bindingsOf(context).incoming?.url?.startsWith('http') === true
  if (header !== null && (!isAbsolute || header.includes(','))) return header
  const { url } = context.req.raw
  const start = url.indexOf('//') + 2
  return url.slice(start, url.indexOf('/', start))
}

const SHOWN = 100

function forbidden(context: Context, header: string, value: string, option: string): Response {
  const shown = JSON.stringify(value.slice(0, SHOWN))
  const text = `${header} ${shown} is not allowed: add it to the option ${option}`
  return toResponse(context, refusal(403, invalidRequest(text)))
}

/** The headers that pages may send, besides those of mirrored arguments, which a preflight lists by name. */
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

/** Lets pages of other origins read the responses. `hostAndOriginGuard` has already checked the origin. */
export function corsMiddleware({ cors: allowed, allowedOrigins }: EndpointOptions): MiddlewareHandler {
  const isAnyOrigin = allowedOrigins === '*' && allowed === true
  return async (context, next) => {
    const { req } = context
    const origin = req.header('origin')
    const isPreflight = req.header('access-control-request-method') !== undefined
    if (origin === undefined || (req.method === 'OPTIONS' && !isPreflight)) {
      await next()
      return
    }
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

/**
 * Takes a place for the request until it is answered, or sends the response that refuses it. With a guard, the place
 * belongs to no caller until the guard has found one.
 */
export function admitRequests(
  limits: SharedLimits,
  hasGuard: boolean,
): MiddlewareHandler<{ Variables: EndpointVariables }> {
  return async (context, next) => {
    const admission = limits.admit(context, hasGuard ? undefined : callerOf(context))
    if (!(admission instanceof Admission)) return toResponse(context, admission)
    context.set('admission', admission)
    try {
      await next()
    } finally {
      admission.release()
    }
    return
  }
}

/** Identifies the caller before the body is read, or sends the response that the guard returned. */
export function authenticate(guard: Guard, hasPage: boolean): MiddlewareHandler<{ Variables: EndpointVariables }> {
  return async (context, next) => {
    const { req } = context
    // Browsers send preflights without credentials.
    if (req.method !== 'OPTIONS') {
      const found = await callGuard(guard, req.raw)
      if (isResponse(found)) {
        const showsPage = hasPage && isVisit(req.raw) && requiresCredentials(found)
        return showsPage ? refusedPage(req.raw, found) : copyResponse(found)
      }
      context.set('auth', found)
      const refused = context.get('admission').moveTo(callerOf(context, found))
      if (refused !== undefined) return toResponse(context, refused)
    }
    await next()
    return
  }
}

/** Whether the guard requires credentials, and has no page of its own for browsers. */
function requiresCredentials({ status, headers }: Response): boolean {
  return (status === 401 || status === 403) && headers.get('content-type')?.includes('text/html') !== true
}

async function callGuard(guard: Guard, request: Request): Promise<AuthInfo | Response | undefined> {
  const found = await guard(request)
  const isCaller = found === undefined || typeof (found as Partial<AuthInfo> | null)?.subject === 'string'
  if (isCaller || (isResponse(found) && found.status !== 0)) return found
  throw new TypeError('authenticate: expected a caller with a subject, a response with a status, or undefined')
}

/** Recognizes responses by their members: `@hono/node-server` replaces the global `Response`, so `instanceof` may fail. */
function isResponse(found: AuthInfo | Response | undefined): found is Response {
  return typeof found === 'object' && found !== null && 'status' in found && 'headers' in found
}

/**
 * Copies the response of a guard, because middleware adds headers to it and a guard may return the same object for many
 * requests. The body can be sent only once. `clone()` is not used, because cancelling the body of a clone does not
 * complete while the original is open.
 */
export function copyResponse(response: Response): Response {
  const isUsed = response.bodyUsed || response.body?.locked === true
  return new Response(isUsed ? null : response.body, response)
}

/** Serves the metadata of the guard to every client and to pages of every origin. */
export function serveMetadata(guard: Guard): MiddlewareHandler {
  return async (context, next) => {
    const found = context.req.method === 'POST' ? undefined : guard.metadata?.(context.req.raw)
    if (found !== undefined) return copyResponse(found)
    await next()
    return
  }
}

/** Checks the headers of a POST. Only JSON is accepted, because pages can send some other types without a preflight. */
export function checkPostHeaders({ headers }: Request, strictAccept: boolean): HttpAnswer | undefined {
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

function checkAccept(accept: string | null): HttpAnswer | undefined {
  const missing = [JSON_TYPE, EVENTS_TYPE].find((type) => !mediaTypes(accept).includes(type))
  if (missing === undefined) return undefined
  return refusal(406, invalidRequest(`Accept must list ${JSON_TYPE} and ${EVENTS_TYPE}: ${missing} is missing`))
}

function mediaTypes(accept: string | null): readonly string[] {
  return (accept ?? '').split(',').map(mediaType)
}

const EVENTS = /(?:^|,)\s*(?:text\/event-stream|text\/\*|\*\/\*)\s*(?:[,;]|$)/i

/** Returns whether the client accepts an SSE stream. A missing Accept header counts as yes. */
export function acceptsEvents({ headers }: Request): boolean {
  const accept = headers.get('accept')
  return accept === null || EVENTS.test(accept)
}

function mediaType(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase()
}
