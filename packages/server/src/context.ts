/** What a handler may know and do while it answers one request. What it does not touch is never made. */

import {
  type AuthInfo,
  type Awaitable,
  type ClientFacts,
  type Context,
  type CreateMessageResult,
  type ElicitOptions,
  type ElicitOutcome,
  type ElicitResult,
  type Exchange,
  type FormSchema,
  type InputRequest,
  type InputResponse,
  type JsonObject,
  type ListRootsResult,
  LOGGING_LEVELS,
  type Logger,
  type LoggingLevel,
  type OpenUrlOptions,
  type RequestInfo,
  type Root,
  type SampleParams,
} from '@mcpx/protocol'
import type { Asker, Question } from './asker.ts'
import { checkForm, toRequestedSchema } from './form.ts'

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

  progress(done: number, total?: number, message?: string): Awaitable<void> {
    const { progressToken } = this.meta
    if (progressToken === undefined || !(done > this.#lastProgress)) return undefined
    this.#lastProgress = done
    const params: JsonObject = { progressToken, progress: done }
    if (total !== undefined) params.total = total
    if (message !== undefined) params.message = message
    return this.#facts.notify('notifications/progress', params)
  }

  letGo(): void {
    this.#exchange.letGo?.()
  }

  async elicit<Form extends FormSchema>(key: string, options: ElicitOptions<Form>): Promise<ElicitOutcome<Form>> {
    const requestedSchema = toRequestedSchema(options.schema)
    const request: InputRequest = {
      method: 'elicitation/create',
      params: { mode: 'form', message: options.message, requestedSchema },
    }
    const answer = await this.#askOne(key, {
      request,
      check: (response) => checkForm(options.schema, requestedSchema, response),
    })
    return answer as ElicitOutcome<Form>
  }

  openUrl(key: string, { message, url }: OpenUrlOptions): Promise<ElicitResult> {
    const request: InputRequest = { method: 'elicitation/create', params: { mode: 'url', message, url } }
    return this.#askOne(key, { request }) as Promise<ElicitResult>
  }

  sample(key: string, params: SampleParams): Promise<CreateMessageResult> {
    return this.#askOne(key, { request: { method: 'sampling/createMessage', params } }) as Promise<CreateMessageResult>
  }

  async roots(key = 'roots'): Promise<Root[]> {
    const { roots } = (await this.#askOne(key, { request: { method: 'roots/list' } })) as ListRootsResult
    return roots
  }

  async ask<Requests extends Record<string, InputRequest>>(
    requests: Requests,
  ): Promise<{ readonly [Key in keyof Requests]?: InputResponse }> {
    const questions = Object.entries(requests).map(([key, request]) => [key, { request }] as const)
    return (await this.#askAll(Object.fromEntries(questions))) as { [Key in keyof Requests]?: InputResponse }
  }

  step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result> {
    this.#asker ??= this.#facts.createAsker()
    return this.#asker.step(key, run)
  }

  async #askOne(key: string, question: Question): Promise<unknown> {
    return (await this.#askAll({ [key]: question }))[key]
  }

  #askAll(questions: Readonly<Record<string, Question>>): Promise<Readonly<Record<string, unknown>>> {
    this.#asker ??= this.#facts.createAsker()
    return this.#asker.ask(questions)
  }
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
