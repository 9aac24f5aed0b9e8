/** A connector that loses, delays, repeats and reorders messages, to test clients and servers on an unreliable network. */

import {
  type Awaitable,
  type Connection,
  ConnectionError,
  type Connector,
  createPendingRequests,
  type NotificationMessage,
  type RequestOptions,
  type Responder,
  type Revision,
  refuseUnknownOption,
} from '@mcpx/protocol'
import { delay as wait } from '../timing.ts'
import { toConnector, wrapConnector } from './observe.ts'

/** Options of `faults`. Probabilities are numbers from 0 to 1. */
export interface FaultOptions {
  /**
   * The probability that the connection breaks during a request: in half of the cases before the request was sent, in
   * the other half after the server has handled it. The connection never breaks during its first request, because the
   * client would conclude that the server has another era. Default: 0.
   */
  readonly cut?: number | undefined
  /**
   * Delays each request by this many ms, or by a random time in this range. A request whose timeout is not longer than
   * its delay times out without being sent. Default: 0.
   */
  readonly delay?: number | readonly [from: number, to: number] | undefined
  /** The probability that a notification of the server arrives twice, one right after the other. Default: 0. */
  readonly duplicate?: number | undefined
  /** The probability that a response arrives after the next response of the same connection. Default: 0. */
  readonly reorder?: number | undefined
  /**
   * The seed of the random numbers, an integer. The same seed causes the same faults if the client sends the same
   * requests in the same order, even if the requests run concurrently. Default: 1.
   */
  readonly seed?: number | undefined
}

/** A fault that a connector of `faults` has caused. */
export interface CausedFault {
  /** The option whose probability caused the fault. */
  readonly kind: 'cut' | 'duplicate' | 'reorder'
  /** The method of the request, or of the repeated notification. */
  readonly method: string
}

/** A connector with faults. */
export interface FaultyConnector extends Connector {
  /** The seed of the faults. `testServer` adds it to the error of a failed test. */
  readonly seed: number
  /** The faults so far, in order. A test whose retries hide the faults can check that there were any. */
  readonly caused: readonly CausedFault[]
}

/** How long a delayed response waits for the next response, in ms. */
const LONGEST_REORDER = 50
/** The methods that open a connection. */
const OPENING: readonly string[] = ['server/discover', 'initialize']

/**
 * Returns a connector with faults. If the connection breaks, all its requests reject with a `ConnectionError` (reason
 * `closed`), whose message contains the seed. A client then connects again.
 *
 * ```ts
 * await using client = await connect(faults(http(url), { cut: 0.05, delay: [0, 20], duplicate: 0.1 }))
 * ```
 *
 * @param target a connector, or a server in the same process
 */
export function faults(target: Responder | Connector, options: FaultOptions): FaultyConnector {
  checkOptions(options)
  const { seed = 1 } = options
  const connector = toConnector('faults', target)
  const caused: CausedFault[] = []
  let connections = 0
  return {
    seed,
    caused,
    ...wrapConnector(connector, async (connectOptions) => {
      connections += 1
      // Each connection and each request has a separate generator, so the order of their events does not change the
      // faults of others.
      const createRandom = (request: number) => createGenerator([seed, connections, request])
      const onFault = (kind: CausedFault['kind'], method: string) => void caused.push({ kind, method })
      const random = createRandom(0)
      const isRepeated = () => random() < (options.duplicate ?? 0)
      const responder = repeatNotifications(connectOptions.responder, isRepeated, onFault)
      const connection = await connector.connect({ ...connectOptions, responder })
      return new FaultyConnection(connection, options, createRandom, onFault)
    }),
  }
}

function checkOptions(options: FaultOptions): void {
  refuseUnknownOption('faults', options, [
    'cut',
    'delay',
    'duplicate',
    'reorder',
    'seed',
  ] satisfies (keyof FaultOptions)[])
  for (const name of ['cut', 'duplicate', 'reorder'] as const) {
    const value = options[name] ?? 0
    if (!(typeof value === 'number' && value >= 0 && value <= 1))
      throw new RangeError(`faults, ${name}: expected a number from 0 to 1, got ${JSON.stringify(value)}`)
  }
  if (!Number.isSafeInteger(options.seed ?? 1)) {
    throw new RangeError(`faults, seed: expected an integer, got ${options.seed}`)
  }
  const range = rangeOf(options.delay)
  if (
    !(
      Array.isArray(range) &&
      range.length === 2 &&
      range.every(Number.isFinite) &&
      0 <= range[0] &&
      range[0] <= range[1]
    )
  )
    throw new RangeError(`faults, delay: expected ms from 0, or [from, to], got ${[options.delay].flat().join(', ')}`)
}

function rangeOf(delay: FaultOptions['delay'] = 0): readonly [number, number] {
  return typeof delay === 'number' ? [delay, delay] : delay
}

/** Creates a generator of reproducible random numbers from 0 to 1 (mulberry32), which depends on all of the numbers. */
function createGenerator(numbers: readonly number[]): () => number {
  let state = numbers.reduce((mixed, number) => Math.imul(mixed ^ number, 0x9e3779b1) + 0x7f4a7c15, 0) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296
  }
}

type OnFault = (kind: CausedFault['kind'], method: string) => void

function repeatNotifications(responder: Responder, isRepeated: () => boolean, onFault: OnFault): Responder {
  return {
    get silent() {
      return responder.silent
    },
    async respond(message, exchange) {
      if (!('id' in message) && isRepeated()) {
        onFault('duplicate', message.method)
        await responder.respond(message, exchange)
      }
      return responder.respond(message, exchange)
    },
  }
}

class FaultyConnection implements Connection {
  readonly closed: Promise<ConnectionError | undefined>
  readonly hasSeparateStreams: boolean | undefined
  readonly #inner: Connection
  readonly #options: FaultOptions
  readonly #createRandom: (request: number) => () => number
  readonly #onFault: OnFault
  readonly #delayed = createPendingRequests({ onCancel() {} })
  #requests = 0
  #releaseHeld: () => void = () => {}

  constructor(
    inner: Connection,
    options: FaultOptions,
    createRandom: (request: number) => () => number,
    onFault: OnFault,
  ) {
    this.#inner = inner
    this.#options = options
    this.#createRandom = createRandom
    this.#onFault = onFault
    this.closed = inner.closed
    this.hasSeparateStreams = inner.hasSeparateStreams
  }

  negotiated(revision: Revision, onMissed?: () => void): Awaitable<void> {
    return this.#inner.negotiated?.(revision, onMissed)
  }

  notify(method: string, params?: object): Awaitable<void> {
    return this.#inner.notify(method, params)
  }

  close(reason?: ConnectionError): Promise<void> {
    this.#delayed.failAll(reason ?? new ConnectionError('closed', 'The connection was closed'))
    this.#releaseHeld()
    return this.#inner.close(reason)
  }

  async request(method: string, params?: object, options: RequestOptions = {}): Promise<unknown> {
    const { cut = 0, duplicate = 0, reorder = 0 } = this.#options
    const [from, to] = rangeOf(this.#options.delay)
    this.#requests += 1
    const id = this.#requests
    const random = this.#createRandom(id)
    const [time, isCut, isCutEarly, isHeld] = [random(), random() < cut, random() < 0.5, random() < reorder]
    if (to > 0 && options.signal?.aborted !== true) await this.#delay(from + (to - from) * time, id, method, options)
    const breaks = isCut && !OPENING.includes(method)
    if (breaks && isCutEarly) return this.#cut(method, 'before it was sent')
    const { onNotification } = options
    const listener = (notification: NotificationMessage) => {
      onNotification?.(notification)
      if (random() >= duplicate) return
      this.#onFault('duplicate', notification.method)
      onNotification?.(notification)
    }
    const sent = onNotification === undefined ? options : { ...options, onNotification: listener }
    const result = await this.#inner.request(method, params, sent)
    if (breaks) return this.#cut(method, 'after the server had handled it')
    if (isHeld) {
      this.#onFault('reorder', method)
      await this.#holdUntilNext()
    } else this.#releaseHeld()
    return result
  }

  /** Waits before a request is sent. Rejects if the request times out or is cancelled, or the connection is closed. */
  async #delay(ms: number, id: number, method: string, { timeout, maxTimeout, signal, label }: RequestOptions) {
    const timer = setTimeout(() => this.#delayed.settle({ jsonrpc: '2.0', id, result: {} }), ms)
    try {
      await this.#delayed.add(id, method, { timeout, maxTimeout, signal, label })
    } finally {
      clearTimeout(timer)
    }
  }

  async #cut(method: string, time: string): Promise<never> {
    const { seed = 1 } = this.#options
    this.#onFault('cut', method)
    const message = `faults: the connection was cut during ${method}, ${time} (seed ${seed})`
    const error = new ConnectionError('closed', message, { retryable: true })
    await this.close(error)
    throw error
  }

  async #holdUntilNext(): Promise<void> {
    const released = new Promise<void>((resolve) => {
      this.#releaseHeld = resolve
    })
    await Promise.race([released, wait(LONGEST_REORDER)])
  }
}
