/** Reads the body of a request as a string, within a limit. */

import type { Context, HonoRequest } from 'hono'
import type { Admission } from './admission.ts'
import { bindingsOf, type NodeIncoming } from './http-request.ts'
import { bodyAlreadyRead, bodyStalled, bodyTooLarge, bodyUnreadable, type HttpAnswer, notUtf8 } from './responses.ts'
import { after, requestTurnOf } from './timers.ts'

/** The body as a string, or the response that refuses it. */
export type Body = string | HttpAnswer

type Bytes = Uint8Array | HttpAnswer

/** A runtime reads at most this many bytes of a body before the endpoint reads it. */
const READ_AHEAD = 64 * 1024

/**
 * Reads the body of a request. Never rejects. Middleware that runs later can read the body again by `c.req.text()` and
 * `c.req.json()`.
 *
 * @param timeout the longest time without a byte, in ms
 */
export async function readBody(context: Context, limit: number, timeout: number, admission: Admission): Promise<Body> {
  const { req } = context
  const { incoming } = bindingsOf(context)
  const announced = Number(req.raw.headers.get('content-length') ?? 0)
  if (announced > limit) return refuseRest(incoming, bodyTooLarge(limit))
  // Count the bytes that Node reads before the endpoint does.
  const refused = announced > 0 ? admission.setBytes(Math.min(announced, READ_AHEAD)) : undefined
  if (refused !== undefined) return refuseRest(incoming, refused)
  // Middleware has already read the body through `c.req`, which caches it.
  if (Object.keys(req.bodyCache).length > 0) return readCached(req, limit)
  let read: Promise<Body>
  if (incoming !== undefined && isLightweight(req.raw)) read = readFromNode(incoming, req, limit, timeout, admission)
  else read = readFromWeb(req.raw, limit, timeout, admission).then((bytes) => decode(bytes, limit))
  // The cache of Hono holds promises, although its type names the values they resolve to.
  req.bodyCache.text = read as unknown as string
  const body = await read
  if (typeof body !== 'string') delete req.bodyCache.text
  return body
}

/** The rest of a refused body is read and dropped for this time, in ms. */
const LINGER = 1_000
/** The number of bytes of a refused body that are read and dropped, before the response and again after it. */
export const MAX_DROPPED = 16 * 1024 * 1024

/**
 * Refuses a request whose body has not arrived yet. On Node, reads and drops the rest of the body first, because a
 * client that is still sending would not receive the response.
 */
async function refuseRest(incoming: NodeIncoming | undefined, refused: HttpAnswer): Promise<HttpAnswer> {
  if (incoming === undefined) return refused
  let dropped = 0
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LINGER)
    const finish = () => {
      clearTimeout(timer)
      incoming.off('data', onData)
      resolve()
    }
    const onData = ({ byteLength }: Uint8Array) => {
      dropped += byteLength
      if (dropped > MAX_DROPPED) finish()
    }
    if (incoming.complete || incoming.destroyed) finish()
    else incoming.on('data', onData).on('end', finish).on('close', finish)
    incoming.resume()
  })
  // A connection that closes while data arrives is reset, and the client might not receive the response. `serveHttp` cuts
  // the connection later.
  if (dropped > MAX_DROPPED) return refused
  return { ...refused, headers: { ...refused.headers, connection: 'close' } }
}

async function readCached(req: HonoRequest, limit: number): Promise<Body> {
  if ('formData' in req.bodyCache) return bodyAlreadyRead()
  try {
    return decode(new Uint8Array(await req.arrayBuffer()), limit)
  } catch {
    return req.raw.bodyUsed ? bodyAlreadyRead() : bodyUnreadable()
  }
}

/**
 * Returns whether `@hono/node-server` created this request. Its requests are plain objects whose prototype has no
 * constructor; a request that middleware replaced is an instance of a class.
 */
function isLightweight(request: Request): boolean {
  return !Object.hasOwn(Object.getPrototypeOf(request), 'constructor')
}

/**
 * Reads the body from Node's request directly, which saves a tenth of the processor time of a small call. First waits
 * for the next turn of the event loop, in which a small body has usually arrived.
 */
async function readFromNode(
  incoming: NodeIncoming,
  req: HonoRequest,
  limit: number,
  timeout: number,
  admission: Admission,
): Promise<Body> {
  await requestTurnOf(admission.caller)
  const isUntouched = incoming.readableFlowing === null && !incoming.readableDidRead
  if (!isUntouched) {
    // If the body had arrived and reading still failed, other code has read the body.
    const hasArrived = incoming.complete
    const bytes = await readFromWeb(req.raw, limit, timeout, admission)
    const isLost = bytes instanceof Uint8Array ? bytes.byteLength === 0 : bytes.status === 400
    return hasArrived && isLost ? bodyAlreadyRead() : decode(bytes, limit)
  }
  if (!incoming.complete) return decode(await collect(incoming, limit, timeout, admission), limit)
  const bytes = incoming.read()
  return bytes === null ? '' : decode(bytes, limit)
}

/**
 * Collects the body from Node's request. The web stream of `@hono/node-server` is not used because it cuts the connection
 * of a client whose body is too large.
 */
function collect(incoming: NodeIncoming, limit: number, timeout: number, admission: Admission): Promise<Bytes> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let length = 0
    const onStalled = () => finish(bodyStalled(timeout))
    let timer = after(timeout, onStalled)
    const finish = (bytes: Bytes | Promise<HttpAnswer>) => {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      resolve(bytes)
    }
    const onData = (chunk: Uint8Array) => {
      clearTimeout(timer)
      timer = after(timeout, onStalled)
      length += chunk.byteLength
      chunks.push(chunk)
      const refused = length > limit ? bodyTooLarge(limit) : admission.setBytes(length)
      if (refused !== undefined) finish(refuseRest(incoming, refused))
    }
    const onEnd = () => finish(concat(chunks, length))
    const onBroken = () => finish(bodyUnreadable())
    if (incoming.destroyed) onBroken()
    else incoming.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

async function readFromWeb(request: Request, limit: number, timeout: number, admission: Admission): Promise<Bytes> {
  // A middleware that keeps a reader of the body locks it.
  if (request.bodyUsed || request.body?.locked === true) return bodyAlreadyRead()
  const reader = request.body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  let isStalled = false
  // Cancelling ends a pending read.
  const cancel = () => void reader?.cancel().catch(() => {})
  const onStalled = () => {
    isStalled = true
    cancel()
  }
  let timer: ReturnType<typeof after>
  try {
    while (reader !== undefined) {
      timer = after(timeout, onStalled)
      const { done, value } = await reader.read()
      clearTimeout(timer)
      if (isStalled) return bodyStalled(timeout)
      if (done) break
      chunks.push(value)
      length += value.byteLength
      const refused = length > limit ? bodyTooLarge(limit) : admission.setBytes(length)
      if (refused === undefined) continue
      cancel()
      return refused
    }
    return concat(chunks, length)
  } catch {
    clearTimeout(timer)
    return bodyUnreadable()
  }
}

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks
  if (chunks.length === 1 && first !== undefined) return first
  const whole = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Bytes, limit: number): Body {
  if (!(bytes instanceof Uint8Array)) return bytes
  if (bytes.byteLength > limit) return bodyTooLarge(limit)
  try {
    return utf8.decode(bytes)
  } catch {
    return notUtf8()
  }
}
