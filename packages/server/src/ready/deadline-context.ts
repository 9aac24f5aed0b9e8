/** A context whose signal also fires when a deadline has passed; questions to the client halt the clock. */

import type {
  Answered,
  Ask,
  AuthInfo,
  Awaitable,
  ClientFacts,
  Context,
  CreateMessageResult,
  ElicitOptions,
  ElicitOutcome,
  ElicitResult,
  FormSchema,
  InputRequest,
  InputResponse,
  JsonObject,
  Logger,
  OpenUrlOptions,
  RequestInfo,
  Root,
  SampleParams,
} from '@mcpx/protocol'
import type { Asker } from '../asker.ts'
import type { Deadline } from './deadline.ts'

export class DeadlineContext implements Context {
  readonly #inner: Context & { readonly asker?: Asker | undefined }
  readonly #deadline: Deadline
  #signal: AbortSignal | undefined

  constructor(inner: Context, deadline: Deadline) {
    this.#inner = inner
    this.#deadline = deadline
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any([this.#inner.signal, this.#deadline.signal])
    return this.#signal
  }

  get auth(): AuthInfo | undefined {
    return this.#inner.auth
  }

  get client(): ClientFacts {
    return this.#inner.client
  }

  get meta(): JsonObject {
    return this.#inner.meta
  }

  get inputResponses(): Readonly<Record<string, InputResponse>> | undefined {
    return this.#inner.inputResponses
  }

  get requestState(): string | undefined {
    return this.#inner.requestState
  }

  get requestInfo(): RequestInfo | undefined {
    return this.#inner.requestInfo
  }

  get log(): Logger {
    return this.#inner.log
  }

  /** The questions of this call, as of the context behind. */
  get asker(): Asker | undefined {
    return this.#inner.asker
  }

  progress(done: number, total?: number, message?: string): Awaitable<void> {
    return this.#inner.progress(done, total, message)
  }

  letGo(): void {
    this.#inner.letGo()
  }

  elicit<Form extends FormSchema>(key: string, options: ElicitOptions<Form>): Promise<ElicitOutcome<Form>> {
    return this.#deadline.outside(() => this.#inner.elicit(key, options))
  }

  openUrl(key: string, options: OpenUrlOptions): Promise<ElicitResult> {
    return this.#deadline.outside(() => this.#inner.openUrl(key, options))
  }

  sample(key: string, params: SampleParams): Promise<CreateMessageResult> {
    return this.#deadline.outside(() => this.#inner.sample(key, params))
  }

  roots(key?: string): Promise<Root[]> {
    return this.#deadline.outside(() => this.#inner.roots(key))
  }

  ask<Questions extends Readonly<Record<string, InputRequest | Ask<unknown>>>>(
    questions: Questions,
  ): Promise<{ readonly [Key in keyof Questions]?: Answered<Questions[Key]> }> {
    return this.#deadline.outside(() => this.#inner.ask(questions))
  }

  step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result> {
    return this.#inner.step(key, run)
  }
}
