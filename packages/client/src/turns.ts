/**
 * The order of calls over stdio. There, an input request or a log message does not name the call that it belongs to.
 * Therefore, calls whose messages could be confused run one after the other.
 */

import {
  type Awaitable,
  type ClientCapabilities,
  ConnectionError,
  type InputRequest,
  type InputResponse,
  internalError,
  type LoggingMessageNotificationParams,
} from '@mcpx/protocol'
import { createDeferred, type Deferred, within } from './async.ts'
import type { EraConnection } from './era.ts'
import type { InputRequestOrigin, RequestCallOptions } from './options.ts'

/** A call, with its callbacks for input requests and log messages. */
interface Turn {
  /** The name of the call in error messages. */
  readonly label: string
  /** Messages that the server may send because of this call. */
  readonly causes: Messages
  /** Kinds of messages that no other running call may cause, so that they can be assigned to this call. */
  readonly claims: Messages
  /** How long the call may wait before it is sent, in ms. */
  readonly timeout: number
  readonly signal: AbortSignal | undefined
  readonly onInputRequest: ((request: InputRequest, origin: InputRequestOrigin) => Awaitable<InputResponse>) | undefined
  readonly onLog: ((entry: LoggingMessageNotificationParams) => void) | undefined
  /**
   * The number of input requests of this call that are being answered. While it is above 0, the server sends no other
   * message for this call.
   */
  asking: number
  /** Resolves when the call may be sent, if it had to wait. */
  readonly started: Deferred<void>
}

interface Messages {
  readonly inputRequests: boolean
  readonly logs: boolean
}

/** How many calls may wait for their turn. */
const MAX_WAITING = 1_000
const DEFAULT_TIMEOUT = 60_000

/** Methods for which servers have no reason to send input requests. */
const NEVER_ASKS = /\/list$|^completion\/|^logging\/|^ping$/

export class Turns {
  readonly #declared: ClientCapabilities
  readonly #running = new Set<Turn>()
  #waiting: readonly Turn[] = []

  /** @param declared the capabilities of the client. */
  constructor(declared: ClientCapabilities) {
    this.#declared = declared
  }

  /** The callback for log messages, if exactly one running call has such a callback. Otherwise undefined. */
  get onLog(): Turn['onLog'] {
    const [turn, ...others] = [...this.#running].filter(({ onLog }) => onLog !== undefined)
    return others.length === 0 ? turn?.onLog : undefined
  }

  /**
   * Sends a call when no running call could be confused with it. Rejects with `ConnectionError` if this takes longer
   * than the timeout of the call, if too many calls are waiting, or if its signal is aborted.
   */
  async run<Result>(
    connection: EraConnection,
    call: { readonly method: string; readonly label: string; readonly options: RequestCallOptions },
    send: () => Promise<Result>,
  ): Promise<Result> {
    const turn = this.#createTurn(connection, call)
    if (this.#mayRun(turn, this.#waiting)) this.#running.add(turn)
    else if (this.#waiting.length >= MAX_WAITING) throw tooManyError(turn.label)
    else await this.#wait(turn)
    try {
      return await send()
    } finally {
      this.#running.delete(turn)
      this.#startNext()
    }
  }

  /** Answers an input request with the callback of the running call. Returns undefined if no running call has a callback. */
  answer(request: InputRequest, origin: InputRequestOrigin): Promise<InputResponse> | undefined {
    const able = [...this.#running].filter(({ onInputRequest }) => onInputRequest !== undefined)
    const likely = able.filter(({ causes }) => causes.inputRequests)
    const [turn, ...others] = likely.length === 0 ? able : likely
    if (others.length > 0)
      throw internalError('Several calls are running, and the input request does not name its call')
    return turn && this.#answerFor(turn, request, origin)
  }

  async #answerFor(turn: Turn, request: InputRequest, origin: InputRequestOrigin): Promise<InputResponse> {
    turn.asking += 1
    this.#startNext()
    try {
      return (await turn.onInputRequest?.(request, origin)) as InputResponse
    } finally {
      turn.asking -= 1
    }
  }

  #createTurn(
    { era, server, connection }: EraConnection,
    { method, label, options }: { method: string; label: string; options: RequestCallOptions },
  ): Turn {
    const { signal, onInputRequest, onLog, capabilities, logs, timeout = DEFAULT_TIMEOUT } = options
    const mayAsk = era === 'legacy' && isAskable(this.#declared) && !NEVER_ASKS.test(method)
    const mayLog = server.capabilities.logging !== undefined
    const isOneStream = connection.hasSeparateStreams !== true
    return {
      label,
      causes: { inputRequests: mayAsk, logs: mayLog },
      claims: {
        inputRequests:
          isOneStream && mayAsk && onInputRequest !== undefined && isAskable(capabilities ?? this.#declared),
        logs: isOneStream && mayLog && onLog !== undefined && logs === 'own',
      },
      timeout,
      signal,
      onInputRequest,
      onLog,
      asking: 0,
      started: createDeferred(),
    }
  }

  /** @param earlier the calls that have waited longer. */
  #mayRun(turn: Turn, earlier: readonly Turn[]): boolean {
    const others = [...this.#running]
    // While the user answers an input request, calls without input requests may run, because the answer may depend on
    // them.
    if (!turn.causes.inputRequests && others.some(({ asking }) => asking > 0)) {
      return !others.some((other) => other.asking === 0 && conflict(turn, other))
    }
    return !others.some((other) => conflict(turn, other)) && !earlier.some((other) => conflict(turn, other))
  }

  #startNext(): void {
    for (const turn of this.#waiting) {
      const earlier = this.#waiting.slice(0, this.#waiting.indexOf(turn))
      if (!this.#mayRun(turn, earlier)) continue
      this.#leave(turn)
      this.#running.add(turn)
      turn.started.resolve()
    }
  }

  #leave(turn: Turn): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting !== turn)
  }

  async #wait(turn: Turn): Promise<void> {
    this.#waiting = [...this.#waiting, turn]
    const waitForStart = () => turn.started.promise
    try {
      await within(turn.label, turn, waitForStart, () => timeoutError(turn))
    } catch (error) {
      this.#leave(turn)
      this.#running.delete(turn)
      this.#startNext()
      throw error
    }
  }
}

function isAskable({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined
}

/** Returns whether one of the calls claims messages that the other may cause. */
function conflict(one: Turn, other: Turn): boolean {
  return claimsFrom(one, other) || claimsFrom(other, one)
}

function claimsFrom({ claims }: Turn, { causes }: Turn): boolean {
  return (claims.inputRequests && causes.inputRequests) || (claims.logs && causes.logs)
}

const REASON = 'Over stdio, calls with onInputRequest, and calls that want their own logs, run one after the other'

function timeoutError({ label, timeout }: Turn): ConnectionError {
  const hint = `${REASON}; pass a longer timeout with the call.`
  const message = `${label} was not sent: its turn did not come within ${timeout} ms`
  return new ConnectionError('timeout', message, { retryable: true, hint })
}

function tooManyError(label: string): ConnectionError {
  const hint = `${REASON}; await some of them before you make more calls.`
  const message = `${label} was not sent: ${MAX_WAITING} calls wait for their turn already`
  return new ConnectionError('limit', message, { retryable: true, hint })
}
