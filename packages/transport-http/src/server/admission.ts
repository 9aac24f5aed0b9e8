/** Counts the requests and bytes of an endpoint, and applies the limits that all callers share. */

import { type AuthInfo, principalOf, type RequestId, SharedLimit } from '@mcpx/protocol'
import type { Context } from 'hono'
import { SESSION_HEADER } from '../headers.ts'
import { bindingsOf } from './http-request.ts'
import type { HttpLimits } from './options.ts'
import { callerLimited, type HttpAnswer, unavailable } from './responses.ts'

/** The limits that callers share. */
export class SharedLimits {
  readonly running: SharedLimit
  readonly streams: SharedLimit
  readonly bytes: SharedLimit

  constructor({ running, streams, receivedBytes, perCaller }: HttpLimits) {
    this.running = new SharedLimit(running, perCaller)
    this.streams = new SharedLimit(streams, perCaller)
    this.bytes = new SharedLimit(receivedBytes, perCaller)
  }

  /** Admits a request, or returns the response that refuses it. The caller may still be unknown. */
  admit({ req }: Context, caller: string | undefined): Admission | HttpAnswer {
    const admission = new Admission(this, req.method === 'GET' ? 'streams' : 'running', caller)
    return admission.enter() ?? admission
  }
}

/** Returns the caller of a request: its principal, otherwise its network address, otherwise its session. */
export function callerOf(context: Context, auth?: AuthInfo): string | undefined {
  return principalOf(auth) ?? networkOf(context) ?? context.req.raw.headers.get(SESSION_HEADER)?.slice(0, MAX_CALLER)
}

/** Matches addresses of the same machine or of a private network. */
const LOCAL =
  /^(?:::1$|f[cd]|fe[89ab]|(?:::ffff:)?(?:127|10|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.)/

/**
 * Returns the network of the client: an IPv4 address, or the first half of an IPv6 address, because one client can use
 * all addresses of the second half. Returns undefined behind a proxy on the same machine or network, which serves many
 * clients. The address in a forwarding header is not used, because clients can also send such headers.
 */
function networkOf(context: Context): string | undefined {
  const address = bindingsOf(context).incoming?.socket?.remoteAddress
  if (address === undefined) return undefined
  const { headers } = context.req.raw
  if (LOCAL.test(address) && (headers.has('x-forwarded-for') || headers.has('forwarded'))) return undefined
  return address.includes(':') && !address.includes('.') ? firstHalf(address) : address
}

/** Returns the first four of the eight groups of an IPv6 address. */
function firstHalf(address: string): string {
  const [first, last] = address.split('::').map((part) => part.split(':')) as [string[], string[]?]
  const zeros = last === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => '0')
  return [...first, ...zeros, ...(last ?? [])].slice(0, 4).join(':')
}

/** The longest session id that counts as a caller, in UTF-16 code units. */
const MAX_CALLER = 100

/**
 * One admitted HTTP request. The request and the bytes of its body count until its last holder has released it. The
 * holders are the HTTP response, the exchanges of its messages, and its stream.
 */
export class Admission {
  caller: string | undefined
  /** Whether the server has received a message of the request. */
  isHandled = false
  readonly #limits: SharedLimits
  readonly #kind: 'running' | 'streams'
  #holders = 0
  #bytes = 0
  /**
   * Whether the request does not count any more. The endpoint may still be running, because middleware can respond
   * earlier.
   */
  #isOver = false

  constructor(limits: SharedLimits, kind: 'running' | 'streams', caller: string | undefined) {
    this.#limits = limits
    this.#kind = kind
    this.caller = caller
  }

  /** Counts the request, or returns the response that refuses it. */
  enter(): HttpAnswer | undefined {
    const limit = this.#limits[this.#kind]
    const exceeded = limit.acquire(this.caller)
    if (exceeded === undefined) {
      this.#holders = 1
      return undefined
    }
    const what = this.#kind === 'running' ? 'requests' : 'streams'
    if (exceeded === 'caller') return callerLimited(`Too many ${what}`, limit.perCaller, `limits.${this.#kind}`)
    return unavailable(`Too many ${what} at once: at most ${limit.total} (limits.${this.#kind})`)
  }

  /** Counts the request for its authenticated caller. */
  moveTo(caller: string | undefined): HttpAnswer | undefined {
    const limit = this.#limits[this.#kind]
    limit.release(this.caller)
    this.caller = caller
    const holders = this.#holders
    this.#holders = 0
    const refused = this.enter()
    if (refused === undefined) this.#holders = holders
    return refused
  }

  hold(): void {
    this.#holders += 1
  }

  release(): void {
    this.#holders -= 1
    if (this.#holders !== 0 || this.#isOver) return
    this.#isOver = true
    this.#limits[this.#kind].release(this.caller)
    this.#limits.bytes.release(this.caller, this.#bytes)
    this.#bytes = 0
  }

  /** The bytes that the request counts. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Counts the bytes of the body so far, or returns the response that refuses the request. A single request is never
   * refused: it counts at most as much as its caller may use. If the caller is unknown, it counts at most half of the
   * total.
   */
  setBytes(bytes: number, id?: RequestId): HttpAnswer | undefined {
    if (this.#isOver) return undefined
    const { bytes: limit } = this.#limits
    const most = this.caller === undefined ? Math.ceil(limit.total / 2) : limit.perCaller
    const added = Math.min(bytes, most) - this.#bytes
    const exceeded = added > 0 ? limit.acquire(this.caller, added) : undefined
    if (exceeded === 'caller') return callerLimited('Too many bytes', limit.perCaller, 'limits.receivedBytes', id)
    if (exceeded === 'total') {
      return unavailable(`Too many bytes at once: at most ${limit.total} (limits.receivedBytes)`, id)
    }
    if (added < 0) limit.release(this.caller, -added)
    this.#bytes += added
    return undefined
  }
}
