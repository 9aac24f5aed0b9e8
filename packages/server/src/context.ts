/** The context of one request: what a handler may know and do while it answers. */

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
  quoted,
  type RequestInfo,
} from '@mcpx/protocol'
import { type Asker, elicit, openUrl, PendingAnswer, type Question, roots, sample } from './questions.ts'

/** The client of a request, as its era knows and reaches it. */
export interface ClientAccess {
  readonly client: ClientFacts
  /** The lowest level of log messages that the client wants; undefined when it wants none. */
  readonly logLevel: LoggingLevel | undefined
  /** Sends a notification that belongs to the request, in the form of the client's revision. */
  notify(method: string, params: JsonObject): Awaitable<void>
  /** Called once, for the first question or step. */
  createAsker(): Asker
}

export class RequestContext implements Context {
  readonly #params: JsonObject
  readonly #exchange: Exchange
  readonly #access: ClientAccess
  readonly #pending: PendingAnswer<unknown>[] = []
  /** The keys of the questions that this run of the handler asked. */
  readonly #askedKeys = new Set<string>()
  #asker: Asker | undefined
  #log: Logger | undefined
  #lastProgress = Number.NEGATIVE_INFINITY

  constructor(params: JsonObject, exchange: Exchange, access: ClientAccess) {
    this.#params = params
    this.#exchange = exchange
    this.#access = access
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
    return this.#access.client
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
    this.#log ??= createLogger(this.#access)
    return this.#log
  }

  /** The questions of this request; undefined when none was asked. */
  get asker(): Asker | undefined {
    return this.#asker
  }

  /** The questions and steps that the handler did not await, as the author wrote them. */
  get notAwaited(): readonly string[] {
    return this.#pending.filter((answer) => !answer.isAwaited).map(({ label }) => label)
  }

  // Functions are bound, as handlers take them out of the context, and created when they are read: most calls read none.

  get progress(): Context['progress'] {
    return (done, total, message) => this.#sendProgress(done, total, message)
  }

  get closeStream(): Context['closeStream'] {
    return () => this.#exchange.closeStream?.()
  }

  get elicit(): Context['elicit'] {
    return (key, options) => this.#askOne('elicit', key, () => elicit(options))
  }

  get openUrl(): Context['openUrl'] {
    return (key, options) => this.#askOne('openUrl', key, () => openUrl(options))
  }

  get sample(): Context['sample'] {
    return (key, params) => this.#askOne('sample', key, () => sample(params))
  }

  get roots(): Context['roots'] {
    return (key = 'roots') => this.#askOne('roots', key, roots)
  }

  get ask(): Context['ask'] {
    return <Asked extends Readonly<Record<string, InputRequest | Ask<unknown>>>>(asked: Asked) =>
      this.#track('ask', Object.keys(asked), async () => {
        const questions = Object.entries(asked).map(([key, one]) => [key, isAsk(one) ? one : { request: one }])
        const answers = await this.#getAsker().ask(Object.fromEntries(questions), this.#askedKeys)
        return answers as { [Key in keyof Asked]?: Answered<Asked[Key]> }
      })
  }

  get step(): Context['step'] {
    return (key, run) => this.#track('step', [key], async () => this.#getAsker().step(key, run))
  }

  #sendProgress(done: number, total: number | undefined, message: string | undefined): Awaitable<void> {
    const { progressToken } = this.meta
    if (progressToken === undefined || !(done > this.#lastProgress)) return undefined
    this.#lastProgress = done
    const params: JsonObject = { progressToken, progress: done }
    if (total !== undefined) params.total = total
    if (message !== undefined) params.message = message
    return this.#access.notify('notifications/progress', params)
  }

  #askOne<Answer>(member: string, key: string, create: () => Question): Promise<Answer> {
    return this.#track(member, [key], async () => {
      const answers = await this.#getAsker().ask({ [key]: create() }, this.#askedKeys)
      return answers[key] as Answer
    })
  }

  #track<Answer>(member: string, keys: readonly string[], start: () => Promise<Answer>): Promise<Answer> {
    const answer = new PendingAnswer(`ctx.${member}(${keys.map(quoted).join(', ')})`, start())
    this.#pending.push(answer)
    return answer
  }

  #getAsker(): Asker {
    this.#asker ??= this.#access.createAsker()
    return this.#asker
  }
}

function isAsk(asked: InputRequest | Ask<unknown>): asked is Ask<unknown> {
  return typeof asked === 'object' && asked !== null && 'request' in asked
}

function createLogger(access: ClientAccess): Logger {
  const { logLevel } = access
  const lowest = logLevel === undefined ? Number.POSITIVE_INFINITY : LOGGING_LEVELS.indexOf(logLevel)
  const entries = LOGGING_LEVELS.map((level, rank) => {
    const write = (data: unknown, logger?: string) => {
      if (rank < lowest) return undefined
      return access.notify('notifications/message', logger === undefined ? { level, data } : { level, logger, data })
    }
    return [level, write]
  })
  return Object.fromEntries(entries) as Logger
}

/** The context of calls to handlers outside of a request: notifications are dropped, and nobody can be asked. */
export function createInternalContext({ auth, requestInfo }: Partial<Exchange>, signal: AbortSignal): Context {
  const exchange: Exchange = { signal, auth, requestInfo, session: undefined, notify: async () => {} }
  return new RequestContext({}, exchange, {
    client: { info: undefined, capabilities: {} },
    logLevel: undefined,
    notify: async () => {},
    createAsker() {
      throw new Error('Nobody can be asked: no request of a client is being answered')
    },
  })
}

/**
 * A context in which the members of `changes` replace those of `ctx`. A whole context in `changes` is returned as it is.
 * Use it in handlers that call other handlers: a copy by `{ ...ctx }` loses the getters of `ctx`.
 *
 * ```ts
 * const asGuest = (inner: ToolHandler): ToolHandler => ({
 *   ...inner,
 *   callTool: (params, ctx) => inner.callTool(params, deriveContext(ctx, { auth: undefined })),
 * })
 * ```
 */
export function deriveContext(ctx: Context, changes: Partial<Context>): Context {
  const inherits = Object.prototype.isPrototypeOf.call(ctx, changes)
  if (!inherits && isWholeContext(changes)) return changes
  return new Proxy({} as Context, {
    get: (_, name) => (Object.hasOwn(changes, name) ? Reflect.get(changes, name) : memberOf(ctx, name)),
    has: (_, name) => Object.hasOwn(changes, name) || name in ctx,
    // A copy has the changes; `deriveContext` finds all other members in the context that it derives from.
    ownKeys: () => Reflect.ownKeys(changes),
    getOwnPropertyDescriptor: (_, name) => {
      const own = Reflect.getOwnPropertyDescriptor(changes, name)
      return own && { ...own, configurable: true }
    },
  })
}

function memberOf(ctx: Context, name: PropertyKey): unknown {
  const member: unknown = Reflect.get(ctx, name)
  return typeof member === 'function' ? member.bind(ctx) : member
}

function isWholeContext(ctx: Partial<Context>): ctx is Context {
  return 'step' in ctx && 'ask' in ctx && 'signal' in ctx
}
