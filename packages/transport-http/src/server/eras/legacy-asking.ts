/** Requests to the client of a session: they leave on the stream of the request they belong to, and come back as POSTs. */

import {
  type Awaitable,
  ConnectionError,
  type JsonObject,
  type Message,
  type NotificationMessage,
  type RequestOptions,
  type ResponseMessage,
  RpcError,
} from '@mcpx/protocol'

/** The stream that asks, and can no more when it has ended. */
export interface AskingStream {
  readonly canSay: boolean
  say(message: Message): Awaitable<void>
}

interface Waiting {
  readonly stream: AskingStream | undefined
  settle(answer: ResponseMessage): void
  hear(progress: NotificationMessage): void
  reject(reason: Error): void
}

const DEFAULT_TIMEOUT = 60_000
const DEFAULT_MAX_TIMEOUT = 600_000
const LONGEST_TIMER = 2 ** 31 - 1

export class Asks {
  readonly #waiting = new Map<unknown, Waiting>()
  /** Other processes may ask the same client: ids must differ. */
  readonly #prefix = crypto.randomUUID().slice(0, 8)
  #count = 0

  get size(): number {
    return this.#waiting.size
  }

  ask(stream: AskingStream | undefined, method: string, params: object | undefined, options: RequestOptions) {
    if (stream === undefined || !stream.canSay) return Promise.reject(unreachable(method))
    if (options.signal?.aborted) return Promise.reject(cancelled(method))
    this.#count += 1
    const id = `${this.#prefix}-${this.#count}`
    return new Promise<unknown>((resolve, reject) => {
      const timers = startTimers(options, () =>
        giveUp(new ConnectionError('timeout', `No answer to ${method} in time`)),
      )
      const onAbort = () => giveUp(cancelled(method))
      const release = () => {
        this.#waiting.delete(id)
        timers.stop()
        options.signal?.removeEventListener('abort', onAbort)
      }
      const giveUp = (reason: Error) => {
        release()
        reject(reason)
        if (options.announceCancel === false) return
        void stream.say(notification('notifications/cancelled', { requestId: id, reason: reason.message }))
      }
      this.#waiting.set(id, {
        stream,
        settle(answer) {
          release()
          if ('error' in answer) reject(toError(answer))
          else resolve(answer.result)
        },
        hear(progress) {
          timers.restart()
          options.onNotification?.(progress)
        },
        reject(reason) {
          release()
          reject(reason)
        },
      })
      options.signal?.addEventListener('abort', onAbort, { once: true })
      void stream.say({ jsonrpc: '2.0', id, method, params: withToken(params, options, id) })
    })
  }

  /** Whether this process has asked what is answered. */
  settle(answer: ResponseMessage): boolean {
    const waiting = this.#waiting.get(answer.id)
    waiting?.settle(answer)
    return waiting !== undefined
  }

  /** Whether this process has asked what the client is busy with. */
  hear(progress: NotificationMessage): boolean {
    const waiting = this.#waiting.get(progress.params?.progressToken)
    waiting?.hear(progress)
    return waiting !== undefined
  }

  /** No answers can come any more; those of one stream, or all. */
  drop(reason: Error, stream?: AskingStream): void {
    for (const waiting of [...this.#waiting.values()]) {
      if (stream === undefined || waiting.stream === stream) waiting.reject(reason)
    }
  }
}

export function unreachable(method: string): ConnectionError {
  const hint = 'A client can be asked while one of its requests is being answered by a stream, and it has a session.'
  return new ConnectionError('unreachable', `The client cannot be asked ${method} here`, { hint })
}

function cancelled(method: string): ConnectionError {
  return new ConnectionError('cancelled', `${method} was given up`)
}

function notification(method: string, params: JsonObject): NotificationMessage {
  return { jsonrpc: '2.0', method, params }
}

function toError(answer: ResponseMessage): Error {
  const { code, message, data } = (answer as Extract<ResponseMessage, { error: unknown }>).error
  return new RpcError(code, message, { data })
}

function withToken(params: object | undefined, options: RequestOptions, id: string): JsonObject | undefined {
  if (options.onNotification === undefined) return params as JsonObject | undefined
  const given = params as JsonObject | undefined
  return { ...given, _meta: { ...(given?._meta as JsonObject | undefined), progressToken: id } }
}

/** One for each stretch of silence, and one for the whole. */
function startTimers({ timeout = DEFAULT_TIMEOUT, maxTimeout }: RequestOptions, onTimeout: () => void) {
  const start = (ms: number) => (ms > LONGEST_TIMER ? undefined : setTimeout(onTimeout, ms))
  const whole = start(maxTimeout ?? Math.max(timeout, DEFAULT_MAX_TIMEOUT))
  let silence = start(timeout)
  return {
    restart() {
      clearTimeout(silence)
      silence = start(timeout)
    },
    stop() {
      clearTimeout(silence)
      clearTimeout(whole)
    },
  }
}
