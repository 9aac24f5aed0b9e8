/** The context of one request, which handlers receive. */

import {
  type Answered,
  type Ask,
  type AuthInfo,
  type Awaitable,
  type ClientCapabilities,
  type ClientFacts,
  type Context,
  type Era,
  type Exchange,
  type Implementation,
  type InputRequest,
  type InputResponse,
  type JsonObject,
  LOGGING_LEVELS,
  type Logger,
  type LoggingLevel,
  quoted,
  type RequestInfo,
  withMembers,
} from '@mcpx/protocol'
import type { Extensions } from './extensions.ts'
import { type Asker, elicit, openUrl, PendingAnswer, type Question, roots, sample } from './questions.ts'

/** Sends log messages, notifications and questions to the client of a request. Each era implements it. */
export interface ClientAccess {
  readonly client: ClientFacts
  /** The lowest level of log messages that the client wants. Undefined if it wants none. */
  readonly logLevel: LoggingLevel | undefined
  /** Sends a notification that belongs to the request, in the form of the client's revision. */
  notify(method: string, params: JsonObject): Awaitable<void>
  /** Creates the object that sends the questions of the request. Called once, for the first question or step. */
  createAsker(): Asker
}

/** The facts about a client, with its capabilities as declared. */
export class DeclaredClient implements ClientFacts {
  readonly info: Implementation | undefined
  readonly capabilities: ClientCapabilities
  readonly #era: Era
  readonly #known: Extensions | undefined

  /** @param known the extensions of the server */
  constructor(info: Implementation | undefined, capabilities: ClientCapabilities, era: Era, known?: Extensions) {
    this.info = info
    this.capabilities = capabilities
    this.#era = era
    this.#known = known
  }

  supports(extension: string): boolean {
    const { extensions = {} } = this.capabilities
    const id = extension.includes('/') ? extension : `io.modelcontextprotocol/${extension}`
    return Object.hasOwn(extensions, id) && this.#known?.ignores(id, this.#era) !== true
  }
}

export class RequestContext implements Context {
  readonly #params: JsonObject
  readonly #exchange: Exchange
  readonly #access: ClientAccess
  readonly #pending: PendingAnswer<unknown>[] = []
  /** The keys of the questions in this run of the handler. */
  #askedKeys: Set<string> | undefined
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

  /** The caller to whom shared limits apply. */
  get caller(): string | undefined {
    return this.#exchange.caller
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

  /** The object that sends the questions of this request. Undefined before the first question or step. */
  get asker(): Asker | undefined {
    return this.#asker
  }

  /** The questions and steps that the handler did not await, as source code such as `ctx.elicit("seat")`. */
  get notAwaited(): readonly string[] {
    return this.#pending.filter((answer) => !answer.isAwaited).map(({ label }) => label)
  }

  // These members are getters that return bound functions, because handlers may destructure the context. With getters,
  // a function is created only if it is used.

  get progress(): Context['progress'] {
    return (done, total, message) => {
      const { progressToken } = this.meta
      if (progressToken === undefined || !(done > this.#lastProgress)) return undefined
      this.#lastProgress = done
      const params: JsonObject = { progressToken, progress: done }
      if (total !== undefined) params.total = total
      if (message !== undefined) params.message = message
      return this.#access.notify('notifications/progress', params)
    }
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
        const answers = await this.#ask(Object.fromEntries(questions))
        return answers as { [Key in keyof Asked]?: Answered<Asked[Key]> }
      })
  }

  get step(): Context['step'] {
    return (key, run) => this.#track('step', [key], async () => this.#getAsker().step(key, run))
  }

  #askOne<Answer>(member: string, key: string, create: () => Question): Promise<Answer> {
    return this.#track(member, [key], async () => {
      const answers = await this.#ask({ [key]: create() })
      return answers[key] as Answer
    })
  }

  #track<Answer>(member: string, keys: readonly string[], start: () => Promise<Answer>): Promise<Answer> {
    const answer = new PendingAnswer(`ctx.${member}(${keys.map(quoted).join(', ')})`, start())
    this.#pending.push(answer)
    return answer
  }

  #ask(questions: Readonly<Record<string, Question>>): Promise<Readonly<Record<string, unknown>>> {
    this.#askedKeys ??= new Set()
    return this.#getAsker().ask(questions, this.#askedKeys)
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
    const write = (value: unknown = null, logger?: string) => {
      if (rank < lowest) return undefined
      // JSON would write an Error as an empty object.
      const data = value instanceof Error ? String(value) : value
      return access.notify('notifications/message', logger === undefined ? { level, data } : { level, logger, data })
    }
    return [level, write]
  })
  return Object.fromEntries(entries) as Logger
}

/** Creates a context for handler calls outside of a request. It drops notifications and rejects questions. */
export function createInternalContext({ auth, requestInfo }: Partial<Exchange>, signal: AbortSignal): Context {
  const exchange: Exchange = { signal, auth, requestInfo, session: undefined, notify: async () => {} }
  return new RequestContext({}, exchange, {
    client: new DeclaredClient(undefined, {}, 'modern'),
    logLevel: undefined,
    notify: async () => {},
    createAsker() {
      throw new Error('Questions are not possible: the handler was called outside of a client request')
    },
  })
}

/**
 * Returns a context with the members of `ctx`, some of which `changes` replaces. If `changes` is a whole context, it is
 * returned unchanged. Use it in handlers that call other handlers, because `{ ...ctx }` loses the getters of `ctx`.
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
  return !inherits && isWholeContext(changes) ? changes : withMembers(ctx, changes)
}

function isWholeContext(ctx: Partial<Context>): ctx is Context {
  return 'step' in ctx && 'ask' in ctx && 'signal' in ctx
}
