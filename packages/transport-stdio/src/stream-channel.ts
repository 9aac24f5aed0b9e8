/** A channel over two byte streams: one message a line, both ways. */

import { type Awaitable, type Channel, ConnectionError, type Decoded, type Message, Refusal } from '@mcpx/protocol'
import { encodeLine, LineDecoder, MAX_LINE_LENGTH } from './line-codec.ts'
import { LineReader } from './line-reader.ts'
import { LineWriter } from './line-writer.ts'
import type { ByteSink, ByteSource } from './streams.ts'
import { withinTime } from './within-time.ts'

export interface StreamLimits {
  /**
   * How long a line may be, in bytes, from 1 to 256 Mi. A longer one is refused by an error that says so, and reading
   * goes on with the next. Default: 32 MiB.
   */
  readonly maxLineLength?: number | undefined
  /**
   * How much may wait for a peer that does not read, in characters. With more, nothing is read from it, and only
   * answers are taken: requests and notifications are refused by a `ConnectionError` `limit`. Default: 64 Mi.
   */
  readonly maxUnsent?: number | undefined
  /** How long closing waits for what was sent to be taken, in ms. What is left then is lost. Default: 5,000. */
  readonly flushTimeout?: number | undefined
}

export interface StreamChannelOptions extends StreamLimits {
  readonly input: ByteSource
  readonly output: ByteSink
  /** Takes lines that are no message at all. Default: the peer is told, by an error without id. */
  readonly onStray?: ((line: string) => void) | undefined
}

const MAX_UNSENT = 64 * 1024 * 1024
const FLUSH_TIMEOUT = 5_000
const LONGEST_LINE = 256 * 1024 * 1024

/**
 * Makes a channel of what is read and what is written, such as the two halves of a socket. Both are its own from now
 * on: it ends them when it is closed.
 *
 * ```ts
 * const channel = createStreamChannel({ input: socket, output: socket })
 * ```
 */
export function createStreamChannel(options: StreamChannelOptions): Channel {
  return new StreamChannel(options)
}

/** The channel, whose two directions can be ended one after the other too. */
export class StreamChannel implements Channel {
  readonly #options: StreamChannelOptions
  readonly #maxUnsent: number
  readonly #decoder: LineDecoder
  readonly #writer: LineWriter
  #reader: LineReader | undefined
  /** Why nothing can be sent any more. */
  #ended: ConnectionError | undefined
  #broken: ConnectionError | undefined
  #isOutputClosed = false
  #closing: Promise<void> | undefined

  constructor(options: StreamChannelOptions) {
    const { input, output, maxLineLength = MAX_LINE_LENGTH, maxUnsent = MAX_UNSENT } = options
    if (!Number.isInteger(maxLineLength) || maxLineLength < 1 || maxLineLength > LONGEST_LINE) {
      throw new RangeError(`maxLineLength: expected an integer from 1 to ${LONGEST_LINE}, got ${maxLineLength}`)
    }
    this.#options = options
    this.#maxUnsent = maxUnsent
    this.#decoder = new LineDecoder(maxLineLength)
    this.#writer = new LineWriter(output, () => this.#reader?.proceed())
    // These stay for good: an error of a stream that nobody listens to ends the process.
    output.on('error', (error) => {
      this.#isOutputClosed = true
      this.#break('The output cannot be written any more', error)
    })
    input.on('error', (error) => this.#break('The input cannot be read any more', error))
    output.on('close', () => this.#outputClosed())
  }

  send(message: Message | Message[]): Awaitable<void> {
    if (this.#ended !== undefined) throw this.#ended
    const line = encodeLine(message)
    if (this.#writer.unsent > this.#maxUnsent && !isAnswer(message)) {
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
      decoder: this.#decoder,
      hand: (item) => (onStray !== undefined && isStray(item) ? onStray(this.#decoder.line) : receiver(item)),
      isCrowded: () => this.#writer.unsent > this.#maxUnsent,
      onBegin: () => this.#writer.begin(),
      onEnd: () => this.#writer.end(),
    })
    if (this.#broken !== undefined) throw this.#broken
    if (this.#closing === undefined) await this.#reader.start()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { input } = this.#options
    await this.endOutput()
    // What the peer sent before may lie in the input still.
    await this.#reader?.stopWhenQuiet()
    input.destroy()
  }

  /** Takes nothing more to send, and lets leave what was sent, as far as it does in time. */
  async endOutput(): Promise<void> {
    this.#ended ??= new ConnectionError('closed', 'The channel has ended')
    this.#writer.release()
    await withinTime(this.#flush(), this.#options.flushTimeout ?? FLUSH_TIMEOUT)
    this.#writer.break()
  }

  async #flush(): Promise<void> {
    const { output } = this.#options
    await this.#writer.drained()
    if (this.#isOutputClosed) return
    await new Promise<void>((resolve) => {
      output.on('close', resolve)
      output.end(resolve)
    })
  }

  #outputClosed(): void {
    this.#isOutputClosed = true
    this.#ended ??= new ConnectionError('closed', 'The peer ended the connection')
    this.#writer.break()
  }

  #break(what: string, cause: Error & { code?: string; syscall?: string }): void {
    const reason = cause.syscall === 'connect' ? 'unreachable' : 'closed'
    const error = new ConnectionError(reason, `${what} (${cause.code ?? cause.message})`, { cause })
    this.#ended ??= error
    this.#broken ??= error
    this.#writer.break()
    this.#reader?.stop(error)
  }
}

function isAnswer(message: Message | Message[]): boolean {
  return Array.isArray(message) || !('method' in message)
}

/** Nobody can be told by their id that this was no message. */
function isStray(item: Decoded): boolean {
  if (Array.isArray(item)) return item.every(isStray)
  return item instanceof Refusal && item.kind === 'unknown' && item.id === undefined
}
