/** How this half reaches others: a `fetch`, its bounds, and which URLs may be asked. */

import type { Fetch } from './fetch.ts'
import { type JsonBounds, type JsonRequest, type JsonResponse, requestJson } from './json-request.ts'
import { createUrlGuard, type UrlGuard, type UrlGuardOptions } from './url-guard.ts'

export interface LinkOptions extends UrlGuardOptions {
  readonly timeout?: number | undefined
  readonly maxResponseSize?: number | undefined
}

export interface Link extends UrlGuard {
  request(request: JsonRequest): Promise<JsonResponse>
}

/** The bounds of what is asked, and who may be asked: the same for every request. */
export interface LinkRules {
  /** @param fetch sends what is asked */
  over(fetch: Fetch): Link
}

const DEFAULT_TIMEOUT = 10_000
const DEFAULT_MAX_RESPONSE_SIZE = 2 ** 17

export function createLinkRules(options: LinkOptions): LinkRules {
  const guard = createUrlGuard(options)
  const bounds: JsonBounds = {
    timeout: positive('timeout', options.timeout ?? DEFAULT_TIMEOUT),
    maxResponseSize: positive('maxResponseSize', options.maxResponseSize ?? DEFAULT_MAX_RESPONSE_SIZE),
  }
  return {
    over: (fetch) => ({ ...guard, request: (request) => requestJson(fetch, request, bounds) }),
  }
}

export function positive(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value
  throw new RangeError(`${name}: expected a whole number from 1, got ${value}`)
}
