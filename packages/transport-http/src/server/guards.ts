/** What a request must be before its body is read: for this host, from an allowed origin, of the right type. */

import { invalidRequest } from '@mcpx/protocol'
import { EVENTS_TYPE, JSON_TYPE } from '../headers.ts'
import { refusal } from './answers.ts'
import { sayTooLarge } from './arrival-limits.ts'
import type { HttpAnswer } from './http-answer.ts'
import type { HttpRequest } from './http-request.ts'
import type { EndpointOptions } from './options.ts'
import { remembered } from './remembered.ts'

export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

export interface Guards {
  /** Refuses headers that are too large, and hosts and origins that are not allowed: no web page may reach a local server through its visitor. */
  checkCaller(request: HttpRequest): HttpAnswer | undefined
  isAllowedOrigin(origin: string, request: HttpRequest): boolean
}

type Allowed = readonly string[] | '*'

export function createGuards(options: EndpointOptions): Guards {
  const { allowedHosts = LOOPBACK_HOSTS, allowedOrigins, cors, maxHeaderSize = Number.POSITIVE_INFINITY } = options
  const hosts = lowerCase(allowedHosts)
  const origins = allowedOrigins === undefined ? undefined : lowerCase(allowedOrigins)
  const pages = Array.isArray(cors) ? lowerCase(cors as readonly string[]) : []

  function isAllowedOrigin(origin: string, request: HttpRequest): boolean {
    const wanted = origin.toLowerCase()
    if (pages === '*' || pages.includes(wanted)) return true
    if (origins !== undefined) return origins === '*' || origins.includes(wanted)
    const host = hostOfOrigin(wanted)
    if (host === undefined) return false
    return hosts === '*' ? host === hostOf(request) : isAllowedHost(host, hosts)
  }

  const isServed = remembered((host) => isAllowedHost(host.toLowerCase(), hosts))

  return {
    isAllowedOrigin,
    checkCaller(request) {
      if (maxHeaderSize < Number.POSITIVE_INFINITY && request.headerSize > maxHeaderSize) {
        return refusal(431, invalidRequest(sayTooLarge(maxHeaderSize)), undefined, { connection: 'close' })
      }
      const host = request.header('host') ?? ''
      if (!isServed(host)) return forbidden('Host', host, 'allowedHosts')
      const origin = request.header('origin')
      if (origin === null || isAllowedOrigin(origin, request)) return undefined
      return forbidden('Origin', origin, 'allowedOrigins')
    },
  }
}

function lowerCase(allowed: Allowed): Allowed {
  return allowed === '*' ? allowed : allowed.map((each) => each.toLowerCase())
}

/** An entry without a port stands for every port. */
function isAllowedHost(host: string, hosts: Allowed): boolean {
  return hosts === '*' || hosts.includes(host) || hosts.includes(host.replace(/:\d+$/, ''))
}

function hostOf(request: HttpRequest): string {
  return (request.header('host') ?? '').toLowerCase()
}

function hostOfOrigin(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

const SHOWN = 100

function forbidden(header: string, value: string, option: string): HttpAnswer {
  const shown = JSON.stringify(value.slice(0, SHOWN))
  return refusal(403, invalidRequest(`${header} ${shown} is not allowed here: add it to the option ${option}`))
}

/** Refuses a body that is not declared as JSON: a page can send any other type without being asked. */
export function checkContentType(request: HttpRequest): HttpAnswer | undefined {
  const type = request.header('content-type')
  if (type !== null && isJson(type)) return undefined
  return refusal(415, invalidRequest(`Content-Type must be ${JSON_TYPE}`), undefined, { accept: JSON_TYPE })
}

export function checkAccept(request: HttpRequest, strict: boolean): HttpAnswer | undefined {
  if (!strict) return undefined
  const accept = request.header('accept')
  const missing = [JSON_TYPE, EVENTS_TYPE].find((type) => accept === null || !listsType(accept, type))
  if (missing === undefined) return undefined
  return refusal(406, invalidRequest(`Accept must list ${JSON_TYPE} and ${EVENTS_TYPE}: ${missing} is missing`))
}

/** Whether the client can be sent events. One that does not say can. */
export function acceptsEvents(request: HttpRequest): boolean {
  const accept = request.header('accept')
  return accept === null || listsEvents(accept)
}

const isJson = remembered((type) => mediaType(type) === JSON_TYPE)
const listsEvents = remembered((accept) => [EVENTS_TYPE, '*/*', 'text/*'].some((type) => listsType(accept, type)))

function listsType(accept: string, type: string): boolean {
  return accept.includes(type) && accept.split(',').some((each) => mediaType(each) === type)
}

function mediaType(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase()
}
