/**
 * The endpoint's view of a request to Node's own HTTP server, without the cost of a web object in between.
 * The types are those parts of Node's that are used, so that this compiles for every runtime.
 */

import type { Awaitable } from '@mcpx/protocol'
import { tooLarge } from './answers.ts'
import {
  AROUND_HEADER,
  type Arriving,
  type GoOn,
  goneError,
  type HttpRequest,
  UnaddressedError,
} from './http-request.ts'
import { type IncomingBody, isTooLong, readAtOnce, readBesideWeb } from './incoming-body.ts'
import { type Connection, closeWith, hasGone, type Outgoing, type OutgoingStream, takesStreams } from './outgoing.ts'

/** Node's `IncomingMessage`. */
export interface Incoming extends IncomingBody {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[]
  readonly socket: Connection
}

/** What a server made of the same request for the web. */
export interface WebView {
  readonly request: Request
  /** Those that count; absent where they are Node's. */
  readonly headers: Headers | undefined
}

/** A target with its host, as proxies are sent it. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i

export class NodeRequest implements HttpRequest {
  readonly method: string
  readonly target: string
  readonly isAlone = false
  readonly #incoming: Incoming
  readonly #outgoing: Outgoing
  /** The host that the target names, which then counts: https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2. */
  readonly #authority: string | undefined
  readonly #view: WebView | undefined
  #made: Request | undefined

  /** @param view is what code of the user's is given, where there is one already. */
  constructor(incoming: Incoming, outgoing: Outgoing, view?: WebView) {
    this.method = incoming.method ?? 'GET'
    const url = incoming.url ?? '/'
    const parts = url.startsWith('/') ? null : ABSOLUTE.exec(url)
    this.target = parts === null ? url : withSlash(parts[2] as string)
    this.#authority = parts?.[1]
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#view = view
  }

  get web(): Request {
    this.#made ??= this.#view?.request ?? this.#toWeb()
    return this.#made
  }

  get headerSize(): number {
    const { rawHeaders } = this.#incoming
    let size = (rawHeaders.length / 2) * AROUND_HEADER
    for (const each of rawHeaders) size += each.length
    return size
  }

  header(name: string): string | null {
    const seen = this.#view?.headers
    if (seen !== undefined && name !== 'host') return seen.get(name)
    const value = name === 'host' ? this.#host() : this.#incoming.headers[name]
    return typeof value === 'string' ? value : (value?.join(', ') ?? null)
  }

  readText<Done>(limit: number, arrivals: Arriving, goOn: GoOn<Done>): Awaitable<Done> {
    const incoming = this.#incoming
    if (isTooLong(incoming, limit)) return goOn(tooLarge(limit))
    if (this.#view === undefined) return readAtOnce(incoming, limit, arrivals, goOn)
    return readBesideWeb(incoming, this.web, limit, arrivals, goOn)
  }

  get outgoing(): OutgoingStream | undefined {
    const outgoing = this.#outgoing
    return takesStreams(outgoing) ? outgoing : undefined
  }

  get hasGone(): boolean {
    return hasGone(this.#incoming, this.#outgoing)
  }

  onGone(listener: (reason: Error) => void): () => void {
    const outgoing = this.#outgoing
    // Whoever still listens has not answered: what was sent, if anything was, is another's answer.
    const heard = () => listener(goneError())
    // What is closed already closes no more.
    if (this.hasGone) heard()
    else {
      closeWith(this.#incoming.socket, outgoing)
      outgoing.once('close', heard)
    }
    return () => outgoing.removeListener('close', heard)
  }

  /** Node keeps the first of two hosts, and something on the way may go by the second: two are one that is not served. */
  #host(): string | readonly string[] | undefined {
    const { rawHeaders, headers } = this.#incoming
    let found: string | undefined
    let count = 0
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] as string
      if (name.length !== 4 || name.toLowerCase() !== 'host') continue
      found = found === undefined ? rawHeaders[i + 1] : `${found}, ${rawHeaders[i + 1]}`
      count += 1
    }
    if (count < 2 && this.#authority !== undefined) return this.#authority
    // HTTP/2 names the host in another way.
    return found ?? headers[':authority']
  }

  #toWeb(): Request {
    const { rawHeaders } = this.#incoming
    const headers = new Headers()
    for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] as string, rawHeaders[i + 1] as string)
    try {
      const url = new URL(this.target, `http://${this.header('host') ?? 'localhost'}`)
      return new Request(url, { method: this.method, headers })
    } catch (cause) {
      throw new UnaddressedError('The method, the target and the Host of the request are no request of the web', {
        cause,
      })
    }
  }
}

function withSlash(path: string): string {
  return path.startsWith('/') ? path : `/${path}`
}
