/** Reads the body of a request to Node's own HTTP server, as text. */

import type { Awaitable } from '@mcpx/protocol'
import { readBefore, tooLarge, unreadable } from './answers.ts'
import type { Arriving, GoOn, Read } from './http-request.ts'
import { nextTurn } from './node-turns.ts'
import { decodeText, readWebText } from './web.ts'

/** Node's `Buffer`. */
interface Bytes extends Uint8Array {
  readonly constructor: { concat(chunks: readonly Bytes[], length: number): Bytes }
}

/** Node's `IncomingMessage`, as far as its body is concerned. */
export interface IncomingBody {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly destroyed: boolean
  /** Whether all of it has come. */
  readonly complete: boolean
  readonly readableLength: number
  /** Null as long as nobody has begun to listen. */
  readonly readableFlowing: boolean | null
  readonly readableDidRead: boolean
  on(event: 'data', listener: (chunk: Bytes) => void): IncomingBody
  on(event: 'end' | 'error', listener: () => void): IncomingBody
  read(): Bytes | null
  removeListener(event: 'data', listener: (chunk: Bytes) => void): IncomingBody
  removeListener(event: 'end' | 'error', listener: () => void): IncomingBody
  /** Where Hono's server finds a body that was read already. */
  rawBody?: unknown
  resume(): unknown
}

/** Whether the body is announced to be larger than it may be. */
export function isTooLong({ headers }: IncomingBody, limit: number): boolean {
  const announced = headers['content-length']
  return announced !== undefined && Number(announced) > limit
}

function isHere({ headers, readableLength }: IncomingBody): boolean {
  const announced = headers['content-length']
  return announced !== undefined && readableLength >= Number(announced)
}

const soon = Promise.resolve()

/**
 * A small body comes in one packet with the headers, and is there a moment after them: then it is taken as it is, and
 * nothing has to be listened to.
 */
export function readAtOnce<Done>(
  incoming: IncomingBody,
  limit: number,
  arrivals: Arriving,
  goOn: GoOn<Done>,
): Promise<Done> {
  return soon.then(() => {
    if (!isHere(incoming)) return listen(incoming, limit, arrivals, goOn)
    const whole = incoming.read()
    return goOn(whole === null ? '' : textOf(whole))
  })
}

/**
 * The same where Hono has made a view of the request for the web, which somebody may have begun to read: two readers of
 * one stream stop each other. Whoever reads that view later finds there what was read here.
 */
export function readBesideWeb<Done>(
  incoming: IncomingBody,
  web: Request,
  limit: number,
  arrivals: Arriving,
  goOn: GoOn<Done>,
): Promise<Done> {
  return new Promise((resolve, reject) => {
    void soon.then(() => {
      try {
        const isUntouched = incoming.readableFlowing === null && !incoming.readableDidRead && !('rawBody' in incoming)
        if (!isUntouched) resolve(arrivals.inTime(readTouched(incoming, web, limit), false, goOn))
        else if (isHere(incoming)) takeInTurn(incoming, (read) => resolve(goOn(read)))
        else resolve(listen(incoming, limit, arrivals, goOn, true))
      } catch (problem) {
        reject(problem)
      }
    })
  })
}

/**
 * Takes a body that is there, before anybody else does, and goes on in the next turn: then the request can end, and has
 * ended before it is answered. Hono's server starts timers for those that have not.
 */
function takeInTurn(incoming: IncomingBody, goOn: (read: Read) => void): void {
  const whole = incoming.read()
  if (whole !== null) incoming.rawBody = whole
  void nextTurn().then(() => {
    if (incoming.complete) incoming.read()
    else incoming.resume()
    goOn(whole === null ? '' : textOf(whole))
  })
}

async function readTouched(incoming: IncomingBody, web: Request, limit: number): Promise<Read> {
  if (!incoming.complete) return readWebText(web, incoming.headers['content-length'] !== undefined, limit)
  try {
    const bytes = new Uint8Array(await web.arrayBuffer())
    return bytes.byteLength > limit ? tooLarge(limit) : decodeText(bytes)
  } catch {
    // No connection can have broken that has brought all.
    return readBefore()
  }
}

function listen<Done>(
  incoming: IncomingBody,
  limit: number,
  arrivals: Arriving,
  goOn: GoOn<Done>,
  isKept = false,
): Awaitable<Done> {
  // Whose going was told already has nobody told again.
  if (incoming.destroyed) return goOn(unreadable())
  return arrivals.inTime(readToEnd(incoming, limit, isKept), false, goOn)
}

function readToEnd(incoming: IncomingBody, limit: number, isKept: boolean): Promise<Read> {
  return new Promise((resolve) => {
    const chunks: Bytes[] = []
    let length = 0
    const onData = (chunk: Bytes) => {
      length += chunk.byteLength
      if (length <= limit) chunks.push(chunk)
      else {
        end(tooLarge(limit))
        incoming.resume()
      }
    }
    const onEnd = () => {
      const whole = joined(chunks, length)
      if (isKept) incoming.rawBody = whole
      end(whole === undefined ? '' : textOf(whole))
    }
    const onError = () => end(unreadable())
    // The request may stay for long, as that of a stream: what has read it does not.
    const end = (read: Read) => {
      incoming.removeListener('data', onData).removeListener('end', onEnd).removeListener('error', onError)
      resolve(read)
    }
    incoming.on('data', onData).on('end', onEnd).on('error', onError)
  })
}

const BYTE_ORDER_MARK = 0xfeff

function joined(chunks: readonly Bytes[], length: number): Bytes | undefined {
  const [first] = chunks
  return chunks.length > 1 ? first?.constructor.concat(chunks, length) : first
}

/**
 * Node's own decoding is the fastest there is. It puts U+FFFD where bytes are no text: only then are they looked at
 * again, strictly.
 */
function textOf(bytes: Bytes): Read {
  const text = String(bytes)
  if (!text.includes('\uFFFD')) return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
  return decodeText(bytes)
}
