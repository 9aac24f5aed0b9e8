/** What a handler may know and do while it answers one request. What it does not touch is never made. */

import {
  type Answered,
  type Ask,
  type AuthInfo,
  type Awaitable,
  type ClientFacts,
  type Context,
  type Exchange,
  type InputRequest,
  type InputResponse,
  type JsonObject,
  LOGGING_LEVELS,
  type Logger,
  type LoggingLevel,
  type RequestInfo,
} from '@mcpx/protocol'
import type { Asker } from './asker.ts'

/** What an era knows of a call. */
export interface CallFacts {
  readonly client: ClientFacts
  /** Log messages below this level are not wanted; nothing means that none are. */
  readonly logLevel: LoggingLevel | undefined
  /** Sends a notification that belongs to this call, in the form that the peer's revision has. */
  notify(method: string, params: JsonObject): Awaitable<void>
  /** How questions reach the client. Called once, when the first is asked. */
  createAsker(): Asker
}

export class RequestContext implements Context {
  readonly #params: JsonObject
  readonly #exchange: Exchange
  readonly #facts: CallFacts
  #asker: Asker | undefined
  #log: Logger | undefined
  #lastProgress = Number.NEGATIVE_INFINITY

  constructor(params: JsonObject, exchange: Exchange, facts: CallFacts) {
    this.#params = params
    this.#exchange = exchange
    this.#facts = facts
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  get auth(): AuthInfo | undefined {
    return this.#exchange.auth
  }

  get requestInfo(): RequestInfo | undefined {
    return this.#exchange.requestInfo
  }

  get client(): ClientFacts {
    return this.#facts.client
  }

  get meta(): JsonObject {
    const meta = this.#params._meta
    return typeof meta === 'object' && meta !== null ? (meta as JsonObject) : {}
  }

  get inputResponses(): Readonly<Record<string, InputResponse>> | undefined {
    return this.#params.inputResponses as Readonly<Record<string, InputResponse>> | undefined
  }

  get requestState(): string | undefined {
    return this.#params.requestState as string | undefined
  }

  get log(): Logger {
    this.#log ??= createLogger(this.#facts)
    return this.#log
  }

  /** The questions of this call; nothing when none was asked. */
  get asker(): Asker | undefined {
    return this.#asker
  }

  // What is called is given bound, and made when it is asked for: handlers take it out of the context.

  get progress(): Context['progress'] {
    return (done, total, message) => this.#progress(done, total, message)
  }

  get closeStream(): Context['closeStream'] {
    return () => this.#exchange.closeStream?.()
  }

  get elicit(): Context['elicit'] {
    return (key, options) => this.#askOne(key, 'elicit', options)
  }

  get openUrl(): Context['openUrl'] {
    return (key, options) => this.#askOne(key, 'openUrl', options)
  }

  get sample(): Context['sample'] {
    return (key, params) => this.#askOne(key, 'sample', params)
  }

  get roots(): Context['roots'] {
    return (key = 'roots') => this.#askOne(key, 'roots')
  }

  get ask(): Context['ask'] {
    return async <Questions extends Asked>(questions: Questions) => {
      const all = Object.entries(questions).map(
        ([key, asked]) => [key, isAsk(asked) ? asked : { request: asked }] as const,
      )
      const answers = await this.#asking().ask(Object.fromEntries(all))
      return answers as { [Key in keyof Questions]?: Answered<Questions[Key]> }
    }
  }

  get step(): Context['step'] {
    return async (key, run) => this.#asking().step(key, run)
  }

  #progress(done: number, total: number | undefined, message: string | undefined): Awaitable<void> {
    const { progressToken } = this.meta
    if (progressToken === undefined || !(done > this.#lastProgress)) return undefined
    this.#lastProgress = done
    const params: JsonObject = { progressToken, progress: done }
    if (total !== undefined) params.total = total
    if (message !== undefined) params.message = message
    return this.#facts.notify('notifications/progress', params)
  }

  /** What cannot be asked rejects, so that one question has its answer when this resolves. */
  async #askOne<Answer>(key: string, kind: keyof Asker['named'], options?: unknown): Promise<Answer> {
    const asker = this.#asking()
    const make = asker.named[kind] as (options: unknown) => Ask<unknown>
    return (await asker.ask({ [key]: make(options) }))[key] as Answer
  }

  #asking(): Asker {
    this.#asker ??= this.#facts.createAsker()
    return this.#asker
  }
}

type Asked = Readonly<Record<string, InputRequest | Ask<unknown>>>

function isAsk(asked: InputRequest | Ask<unknown>): asked is Ask<unknown> {
  return typeof asked === 'object' && asked !== null && 'request' in asked
}

function createLogger(facts: CallFacts): Logger {
  const { logLevel } = facts
  const lowest = logLevel === undefined ? Number.POSITIVE_INFINITY : LOGGING_LEVELS.indexOf(logLevel)
  const entries = LOGGING_LEVELS.map((level, rank) => {
    const write = (data: unknown, logger?: string) =>
      rank < lowest
        ? undefined
        : facts.notify('notifications/message', logger === undefined ? { level, data } : { level, logger, data })
    return [level, write]
  })
  return Object.fromEntries(entries) as Logger
}
