/** Channels and connections over two byte streams: one message per line, in both directions. */

import { setImmediate } from 'node:timers/promises'
import {
  type Awaitable,
  BATCH_REVISION,
  type Channel,
  type Connection,
  ConnectionError,
  type Connector,
  checkNumbers,
  createDuplex,
  type Decoded,
  type DuplexLimits,
  type DuplexOptions,
  LONGEST_TIMER,
  type Message,
  Refusal,
  refuseUnknownOption,
} from '@mcpx/protocol'
import { type ByteSink, type ByteSource, encodeLine, LineReader, LineWriter, MAX_LINE_LENGTH } from './lines.ts'

/** Limits of the lines of one connection. */
export interface StreamLimits {
  /**
   * The maximum length of a line in bytes, from 1 to 256 Mi. A longer line is refused with an error, and reading
   * continues with the next line. Default: 32 MiB.
   */
  readonly maxLineLength?: number | undefined
  /**
   * How many characters may wait for a peer that does not read. Above this number, the peer's messages are not read,
   * and only responses can be sent: requests and notifications fail with `ConnectionError` (reason `limit`). Default:
   * 64 Mi.
   */
  readonly maxUnsent?: number | undefined
  /** How long closing waits until everything is written, in ms. After this time, the rest is lost. Default: 5,000. */
  readonly flushTimeout?: number | undefined
}

/** The two byte streams of a connection. */
export interface StreamPair {
  /** The stream of the messages of the peer. */
  readonly input: ByteSource
  /** The stream of the messages to the peer. */
  readonly output: ByteSink
}

/** Options of `createStreamChannel`. */
export interface StreamChannelOptions extends StreamLimits, StreamPair {
  /** Called with each line that is not a JSON-RPC message. Default: the peer receives an error without id. */
  readonly onStray?: ((line: string) => void) | undefined
}

const MAX_UNSENT = 64 * 1024 * 1024
const FLUSH_TIMEOUT = 5_000
const MAX_MAX_LINE_LENGTH = 256 * 1024 * 1024

/**
 * Creates a channel over two byte streams, such as the two directions of a socket. Closing the channel ends both streams.
 * Throws a `TypeError` for an unknown option, and a `RangeError` for a number out of range.
 *
 * ```ts
 * const channel = createStreamChannel({ input: socket, output: socket })
 * ```
 */
export function createStreamChannel(options: StreamChannelOptions): Channel {
  const { maxUnsent, flushTimeout } = options
  refuseUnknownOption('createStreamChannel', options, ['input', 'output', 'onStray', ...LIMIT_NAMES])
  checkNumbers('createStreamChannel: ', { maxUnsent, flushTimeout })
  return new StreamChannel(options)
}

const LIMIT_NAMES = ['maxLineLength', 'maxUnsent', 'flushTimeout'] satisfies (keyof StreamLimits)[]

/** A channel that reports when its peer has ended the connection. */
export interface ObservedChannel extends Channel {
  /**
   * Resolves when the peer has ended the connection, with the error if there was one. Pending requests are rejected
   * only afterwards, so that a retry opens a new connection.
   */
  readonly lost: Promise<ConnectionError | undefined>
}

export class StreamChannel implements ObservedChannel {
  readonly lost: Promise<ConnectionError | undefined>
  #resolveLost: (reason: ConnectionError | undefined) => void = () => {}
  readonly #options: StreamChannelOptions
  readonly #maxUnsent: number
  readonly #maxLineLength: number
  readonly #writer: LineWriter
  #reader: LineReader | undefined
  /** The error of `send`, when nothing more can be sent. */
  #sendError: ConnectionError | undefined
  /** The error of `receive`, after a stream has failed. */
  #receiveError: ConnectionError | undefined
  #isOutputClosed = false
  #closing: Promise<void> | undefined

  constructor(options: StreamChannelOptions) {
    const { input, output, maxLineLength = MAX_LINE_LENGTH, maxUnsent = MAX_UNSENT } = options
    if (!Number.isInteger(maxLineLength) || maxLineLength < 1 || maxLineLength > MAX_MAX_LINE_LENGTH) {
      throw new RangeError(`maxLineLength: expected an integer from 1 to ${MAX_MAX_LINE_LENGTH}, got ${maxLineLength}`)
    }
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve
    })
    this.#options = options
    this.#maxUnsent = maxUnsent
    this.#maxLineLength = maxLineLength
    this.#writer = new LineWriter(output, maxUnsent)
    // Never remove these listeners: a stream error without a listener ends the process.
    output.on('error', (error) => {
      this.#isOutputClosed = true
      this.#fail('The output cannot be written any more', error)
    })
    input.on('error', (error) => this.#fail('The input cannot be read any more', error))
    output.on('close', () => this.#handleOutputClose())
  }

  send(message: Message | Message[]): Awaitable<void> {
    if (this.#sendError !== undefined) throw this.#sendError
    const line = encodeLine(message)
    if (this.#writer.isAboveLimit && !isResponse(message)) {
      const hint = 'The peer does not read. Await each send to go no faster than it does.'
      throw new ConnectionError(
        'limit',
        `Not sent: more than ${this.#maxUnsent} characters wait to leave (maxUnsent)`,
        { hint },
      )
    }
    return this.#writer.write(line)
  }

  async receive(receiver: (item: Decoded) => Awaitable<void>): Promise<void> {
    if (this.#reader !== undefined) throw new TypeError('The channel is being received from already')
    const { input, onStray } = this.#options
    this.#reader = new LineReader({
      input,
      maxLineLength: this.#maxLineLength,
      onMessage: (item, line) => (onStray !== undefined && isStray(item) ? onStray(line.trim()) : receiver(item)),
      waitForRoom: () => this.#writer.waitForRoom(),
    })
    try {
      if (this.#receiveError !== undefined) throw this.#receiveError
      if (this.#closing === undefined) await this.#reader.read()
    } catch (cause) {
      const isKnown = cause instanceof ConnectionError
      await this.#lose(isKnown ? cause : new ConnectionError('closed', 'The connection broke', { cause }))
      throw cause
    }
    await this.#lose()
  }

  async #lose(reason?: ConnectionError): Promise<void> {
    if (this.#closing !== undefined) return
    this.#resolveLost(reason)
    await setImmediate()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { input } = this.#options
    await this.endOutput()
    // Messages that the peer sent before may still be in the input.
    await this.#reader?.finish()
    input.destroy()
  }

  /** Accepts no further messages and ends the output once everything is written, at the latest after `flushTimeout`. */
  async endOutput(): Promise<void> {
    this.#sendError ??= new ConnectionError('closed', 'The channel has ended')
    await completesWithin(this.#flush(), this.#options.flushTimeout ?? FLUSH_TIMEOUT)
    this.#writer.break()
  }

  async #flush(): Promise<void> {
    const { output } = this.#options
    await this.#writer.drain()
    if (this.#isOutputClosed) return
    await new Promise<void>((resolve) => {
      output.on('close', resolve)
      output.end(resolve)
    })
  }

  #handleOutputClose(): void {
    this.#isOutputClosed = true
    this.#sendError ??= new ConnectionError('closed', 'The peer ended the connection')
    this.#writer.break()
  }

  #fail(message: string, cause: Error & { code?: string; syscall?: string }): void {
    const reason = cause.syscall === 'connect' ? 'unreachable' : 'closed'
    const error = new ConnectionError(reason, `${message} (${cause.code ?? cause.message})`, { cause })
    this.#sendError ??= error
    this.#receiveError ??= error
    this.#writer.break()
    this.#reader?.stop(error)
  }
}

function isResponse(message: Message | Message[]): boolean {
  return Array.isArray(message) || !('method' in message)
}

/** Returns whether a refused line has no id, so that no error response can name its request. */
function isStray(item: Decoded): boolean {
  if (Array.isArray(item)) return item.every(isStray)
  return item instanceof Refusal && item.kind === 'unknown' && item.id === undefined
}

/**
 * Resolves to true if the promise is fulfilled within this many ms, otherwise to false. Rejects if the promise rejects
 * before.
 */
export async function completesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.min(ms, LONGEST_TIMER))
  })
  try {
    return await Promise.race([promise.then(() => true as const), timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Options of `overStreams`. */
export interface OverStreamsOptions extends StreamLimits {
  /** The name under which the era of the server is remembered. Default: the era is not remembered. */
  readonly peer?: string | undefined
  /** How long the server may take to answer the request that determines its era, in ms. Default: 5,000. */
  readonly probeTimeout?: number | undefined
  /** Limits of running and pending requests. */
  readonly limits?: Partial<DuplexLimits> | undefined
}

/**
 * Creates a connector for a server that is connected by two byte streams. `open` is called for each connection; closing
 * the connection ends the streams. Throws a `TypeError` for an unknown option, and a `RangeError` for a number out of range.
 *
 * ```ts
 * const client = await connect(overStreams(() => { const socket = dial(path); return { input: socket, output: socket } }))
 * ```
 */
export function overStreams(open: () => Awaitable<StreamPair>, options: OverStreamsOptions = {}): Connector {
  const { peer, probeTimeout, limits, maxLineLength, maxUnsent, flushTimeout } = options
  refuseUnknownOption('overStreams', options, ['peer', 'probeTimeout', 'limits', ...LIMIT_NAMES])
  checkNumbers('overStreams: ', { probeTimeout, maxLineLength, maxUnsent, flushTimeout })
  return {
    peer,
    probeTimeout,
    network: { transport: 'pipe' },
    async connect({ responder, onWarning: report, onMessage }) {
      const { input, output } = await open()
      const channel = new StreamChannel({ input, output, maxLineLength, maxUnsent, flushTimeout })
      return connectOver(channel, { responder, onWarning: report, onMessage, limits })
    },
  }
}

/** Creates the connection of a client over a channel. */
export function connectOver(channel: ObservedChannel, options: DuplexOptions): Connection {
  let acceptsBatches = false
  const duplex = createDuplex(channel, { ...options, supportsBatches: () => acceptsBatches })
  return Object.assign(duplex, {
    closed: Promise.race([duplex.closed, channel.lost]),
    negotiated(revision: string) {
      acceptsBatches = revision === BATCH_REVISION
    },
  })
}
