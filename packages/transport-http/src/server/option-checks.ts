/** Refuses what would serve nothing, bound nothing, or let nobody in. The types say the same, to those who have them. */

import type { Responder } from '@mcpx/protocol'
import type { EndpointOptions } from './options.ts'

const HOST = /^(?:[^\s/:?#*[\]]+|\[[^\s/\]]+\])(?::\d+)?$/
const HOSTS = 'hosts such as "mcp.example.com" or "mcp.example.com:8443"'
const ORIGIN = /^(?:[a-z][\w+.-]*:\/\/[^\s/?#*]+|null)$/i
const ORIGINS = 'origins such as "https://app.example.com"'

/** Throws a `TypeError` or a `RangeError` that says what was expected. What `limits` holds is checked where it is read. */
export function checkOptions(responder: Responder, options: EndpointOptions): void {
  const { allowedHosts = '*', allowedOrigins = '*', cors = false, responses = 'auto', sessions } = options
  if (typeof responder?.respond !== 'function') throw unexpected('a server such as createServer makes', responder)
  if (allowedHosts !== '*') checkList('allowedHosts', allowedHosts, HOST, `${HOSTS}, or "*"`)
  if (allowedOrigins !== '*') checkList('allowedOrigins', allowedOrigins, ORIGIN, `${ORIGINS}, or "*"`)
  if (typeof cors !== 'boolean') checkList('cors', cors, ORIGIN, `${ORIGINS}, or true or false`)
  if (!['auto', 'json', 'events'].includes(responses)) {
    throw unexpected('"auto", "json" or "events"', responses, 'responses: ')
  }
  for (const name of ['authenticate', 'report', 'toolSchemas'] as const) {
    const given: unknown = options[name]
    if (given !== undefined && typeof given !== 'function') throw unexpected('a function', given, `${name}: `)
  }
  checkTime('keepAlive', options.keepAlive, 1)
  if (!sessions) return
  checkTime('sessions.ttl', sessions.ttl, 1)
  // It is sent to clients, who take no other numbers.
  const { retry } = sessions
  if (retry === undefined || (Number.isSafeInteger(retry) && retry >= 0)) return
  throw new RangeError(`sessions.retry: expected a whole number of ms from 0, got ${retry}`)
}

function checkList(option: string, given: unknown, form: RegExp, wanted: string): void {
  const isEntry = (each: unknown) => typeof each === 'string' && form.test(each)
  const wrong = Array.isArray(given) ? given.findIndex((each) => !isEntry(each)) : 0
  if (wrong === -1) return
  throw unexpected(`a list of ${wanted}`, Array.isArray(given) ? given[wrong] : given, `${option}: `)
}

function checkTime(option: string, given: unknown, least: number): void {
  if (given === undefined || (typeof given === 'number' && given >= least)) return
  throw new RangeError(`${option}: expected a number of ms from ${least}, or Infinity, got ${given}`)
}

function unexpected(wanted: string, given: unknown, where = ''): TypeError {
  return new TypeError(`${where}expected ${wanted}, got ${JSON.stringify(given) ?? String(given)}`)
}
