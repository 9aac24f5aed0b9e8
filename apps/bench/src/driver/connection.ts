/** A persistent HTTP/1.1 connection on a raw socket with one request at a time. It does as little as possible, so that the
 * server dominates the measurement.
 */
import { connect, type Socket } from 'node:net'

const END_OF_HEADERS = Buffer.from('\r\n\r\n')

/** The response. The body is kept only if the caller requests it. */
export interface Reply {
  readonly status: number
  readonly headers: string
  readonly body: Buffer | undefined
  /** The bytes of the body, without chunk sizes. */
  readonly bytes: number
}

interface Waiting {
  readonly keep: boolean
  readonly done: (reply: Reply) => void
  readonly failed: (error: Error) => void
}

/** The next state of a chunked body: its size or its trailer. */
const SIZE = -1
const TRAILER = -2

export class Connection {
  readonly socket: Socket
  #waiting: Waiting | undefined
  #status = 0
  #headers = ''
  #isBody = false
  #isChunked = false
  /** The missing bytes of the body or of the chunk, or `SIZE`, or `TRAILER`. */
  #left = 0
  #bytes = 0
  #parts: Buffer[] = []
  /** The incomplete start of a head or of a chunk size. */
  #pending: Buffer | undefined

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (data) => this.#read(data))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('The server closed the connection')))
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Connection(socket))
      })
    })
  }

  /** Sends the bytes of one request. The callback runs as soon as the response is complete. */
  send(request: string | Buffer, done: (reply: Reply) => void, failed: (error: Error) => void, keep = false): void {
    this.#waiting = { keep, done, failed }
    if (typeof request === 'string') this.socket.write(request, 'latin1')
    else this.socket.write(request)
  }

  request(bytes: string | Buffer): Promise<Reply> {
    return new Promise((resolve, reject) => this.send(bytes, resolve, reject, true))
  }

  close(): void {
    this.#waiting = undefined
    this.socket.destroy()
  }

  #fail(error: Error): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.failed(error)
  }

  #read(given: Buffer): void {
    let data = this.#pending === undefined ? given : Buffer.concat([this.#pending, given])
    this.#pending = undefined
    if (!this.#isBody) {
      const end = data.indexOf(END_OF_HEADERS)
      if (end < 0) {
        this.#pending = data
        return
      }
      this.#readHead(data.toString('latin1', 0, end))
      data = data.subarray(end + 4)
    }
    if (this.#isChunked) this.#readChunks(data)
    else this.#readRest(data)
  }

  #readHead(headers: string): void {
    this.#isBody = true
    this.#headers = headers
    this.#status = Number(headers.slice(9, 12))
    const small = headers.toLowerCase()
    const at = small.indexOf('\r\ncontent-length:')
    this.#isChunked = at < 0 && small.includes('\r\ntransfer-encoding: chunked')
    this.#left = this.#isChunked ? SIZE : at < 0 ? 0 : Number.parseInt(small.slice(at + 17), 10)
  }

  #readRest(data: Buffer): void {
    this.#take(data, this.#left - data.length)
    if (this.#left <= 0) this.#finish()
  }

  #readChunks(data: Buffer): void {
    let at = 0
    while (this.#isBody) {
      if (this.#left < 0) {
        const end = data.indexOf(10, at)
        if (end < 0) break
        const size = this.#left === TRAILER ? 0 : Number.parseInt(data.toString('latin1', at, end), 16)
        at = end + 1
        if (this.#left === TRAILER) this.#finish()
        // Includes the line break after a chunk.
        else this.#left = size === 0 ? TRAILER : size + 2
        continue
      }
      const taken = Math.min(this.#left, data.length - at)
      this.#takeChunk(data, at, taken)
      at += taken
      if (this.#left > 0) return
      this.#left = SIZE
    }
    if (at < data.length) this.#pending = data.subarray(at)
  }

  #takeChunk(data: Buffer, at: number, taken: number): void {
    // Skips the rest of the line break.
    const text = Math.max(0, Math.min(taken, this.#left - 2))
    if (text > 0) this.#take(data.subarray(at, at + text), this.#left)
    this.#left -= taken
  }

  #take(data: Buffer, left: number): void {
    this.#bytes += data.length
    this.#left = left
    if (this.#waiting?.keep && data.length > 0) this.#parts.push(data)
  }

  #finish(): void {
    const waiting = this.#waiting
    const body = waiting?.keep ? Buffer.concat(this.#parts) : undefined
    const reply = { status: this.#status, headers: this.#headers, body, bytes: this.#bytes }
    this.#isBody = false
    this.#isChunked = false
    this.#bytes = 0
    this.#parts = []
    this.#waiting = undefined
    waiting?.done(reply)
  }
}
