/**
 * The guards of an endpoint: host and origin checks, CORS, authentication. They run before the endpoint and before
 * middleware of users.
 */

import { type AuthInfo, type Guard, guarded, invalidRequest, type RefusedRequest, type Telemetry } from '@mcpx/protocol'
import type { Context, Next } from 'hono'
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
import { bindingsOf, type EndpointVariables, networkInfoOf } from './http-request.ts'
import type { EndpointOptions } from './options.ts'
import { isVisit, refusedPage } from './page.ts'
import { asError, type HttpAnswer, refusal, toResponse } from './responses.ts'

export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

type Allowed = readonly string[] | '*'

type GuardHandler = (context: Context<{ Variables: EndpointVariables }>, next: Next) => Promise<Response | undefined>

/**
 * Creates the middleware that guards an endpoint. It serves the metadata of `authenticate`, and refuses hosts and
 * origins that are not allowed. It counts the request until the response was sent, and identifies the caller before the
 * body is read. It is one function, because Hono composes each handler of a mounted app again for each request.
 *
 * @param guard the option `authenticate`
 * @param telemetry is notified of each request that is refused, here or later, before the server has received a message
 */
export function createGuards(
  options: EndpointOptions,
  guard: Guard | undefined,
  limits: SharedLimits,
  telemetry?: Telemetry,
): GuardHandler {
  const refuseSender = createSenderCheck(options)
  const addCors = options.cors ? createCors(options) : undefined

  const admit: GuardHandler = async (context, next) => {
    // If there is a guard, the request counts for no caller until the guard has identified the caller.
    const admission = limits.admit(context, guard === undefined ? callerOf(context) : undefined)
    if (!(admission instanceof Admission)) return toResponse(context, admission)
    context.set('admission', admission)
    try {
      const refused = guard && (await authenticate(context, guard, options.page !== false))
      if (refused === undefined) await next()
      return refused
    } catch (error) {
      // Hono passes only `Error` instances to `onError`.
      throw asError(error)
    } finally {
      admission.release()
    }
  }

  const handle: GuardHandler = (context, next) => {
    const metadata = context.req.method === 'POST' ? undefined : guard?.metadata?.(context.req.raw)
    if (metadata !== undefined) return Promise.resolve(copyResponse(metadata))
    const refused = refuseSender(context)
    if (refused !== undefined) return Promise.resolve(toResponse(context, refused))
    return addCors === undefined ? admit(context, next) : addCors(context, next, admit)
  }
  return telemetry?.onRefuse === undefined ? handle : observeRefusals(handle, telemetry, guarded(options.onWarning))
}

/** The lowest HTTP status of an error. */
const FIRST_ERROR = 400

function observeRefusals(handle: GuardHandler, telemetry: Telemetry, report: (problem: Error) => void): GuardHandler {
  const onRefuse = guarded((refused: RefusedRequest) => telemetry.onRefuse?.(refused), report)
  return async (context, next) => {
    const response = await handle(context, next)
    const { status } = response ?? context.res
    const admission: Admission | undefined = context.get('admission')
    const isRefused = status >= FIRST_ERROR && admission?.isHandled !== true
    if (isRefused && telemetry.isActive !== false) {
      onRefuse({ status, network: networkInfoOf(bindingsOf(context).outgoing) })
    }
    return response
  }
}

/** Creates the check of hosts and origins. It prevents web pages from reaching a local server through a browser. */
function createSenderCheck(options: EndpointOptions): (context: Context) => HttpAnswer | undefined {
  const { allowedHosts = LOOPBACK_HOSTS, allowedOrigins } = options
  const hosts = lowerCase(allowedHosts)
  const origins = allowedOrigins === undefined ? undefined : lowerCase(allowedOrigins)
  const corsOrigins = Array.isArray(options.cors) ? lowerCase(options.cors) : []

  function isAllowedOrigin(origin: string, host: string): boolean {
    const wanted = origin.toLowerCase()
    if (corsOrigins.includes(wanted)) return true
    if (origins !== undefined) return origins === '*' || origins.includes(wanted)
    // Origins of browser extensions have other schemes, and may contain the name of any host.
    if (!URL.canParse(wanted) || !/^https?:/.test(wanted)) return false
    const page = new URL(wanted).host
    return hosts === '*' ? page === host.toLowerCase() : isAllowedHost(page, hosts)
  }

  return (context) => {
    const host = hostOf(context)
    if (!isAllowedHost(host.toLowerCase(), hosts)) return forbidden('Host', host, 'allowedHosts')
    const origin = context.req.raw.headers.get('origin')
    if (origin === null || isAllowedOrigin(origin, host)) return undefined
    return forbidden('Origin', origin, 'allowedOrigins')
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
 * Returns the host of a request. If the request target contains a host, it has precedence over the Host header:
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

function forbidden(header: string, value: string, option: string): HttpAnswer {
  const shown = JSON.stringify(value.slice(0, SHOWN))
  return refusal(403, invalidRequest(`${header} ${shown} is not allowed: add it to the option ${option}`))
}

/** The headers that pages may send. A preflight also lists the headers of mirrored arguments by name. */
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

/** Allows pages of other origins to read the responses, with `hono/cors`. The origin must have been checked before. */
function createCors({ cors: allowed, allowedOrigins }: EndpointOptions) {
  const isAnyOrigin = allowedOrigins === '*' && allowed === true
  return async (...[context, next, admit]: [...Parameters<GuardHandler>, GuardHandler]) => {
    const { req } = context
    const origin = req.header('origin')
    const isPreflight = req.header('access-control-request-method') !== undefined
    if (origin === undefined || (req.method === 'OPTIONS' && !isPreflight)) return admit(context, next)
    const asked = (req.header('access-control-request-headers') ?? '').toLowerCase().split(',')
    const mirrored = asked.map((name) => name.trim()).filter((name) => name.startsWith(PARAM_HEADER_PREFIX))
    const run = cors({
      origin: isAnyOrigin ? '*' : (each) => each,
      allowMethods: ['GET', 'POST', 'DELETE'],
      allowHeaders: [[...REQUEST_HEADERS, ...mirrored].join(', ')],
      exposeHeaders: [RESPONSE_HEADERS.join(', ')],
      maxAge: MAX_AGE,
    })
    const preflight = await run(context, async () => {
      const refused = await admit(context, next)
      if (refused !== undefined) context.res = refused
    })
    return preflight ?? undefined
  }
}

/** Identifies the caller, or returns the response that refuses the request. */
async function authenticate(
  context: Context<{ Variables: EndpointVariables }>,
  guard: Guard,
  hasPage: boolean,
): Promise<Response | undefined> {
  const { raw, method } = context.req
  // Browsers send preflights without credentials.
  if (method === 'OPTIONS') return undefined
  const found = await callGuard(guard, raw)
  if (isResponse(found)) {
    const showsPage = hasPage && isVisit(raw) && requiresCredentials(found)
    return showsPage ? refusedPage(raw, found) : copyResponse(found)
  }
  context.set('auth', found)
  const refused = context.get('admission').moveTo(callerOf(context, found))
  return refused && toResponse(context, refused)
}

/** Returns whether the guard requires credentials, and its response is not a page for browsers. */
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

function mediaType(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase()
}
