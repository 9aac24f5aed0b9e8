/** A context whose signal also fires when a deadline has passed; questions to the client halt the clock. */

import type { AuthInfo, ClientFacts, Context, InputResponse, JsonObject, Logger, RequestInfo } from '@mcpx/protocol'
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

  get progress(): Context['progress'] {
    return (done, total, message) => this.#inner.progress(done, total, message)
  }

  get closeStream(): Context['closeStream'] {
    return () => this.#inner.closeStream()
  }

  get step(): Context['step'] {
    return (key, run) => this.#inner.step(key, run)
  }

  get elicit(): Context['elicit'] {
    return (key, options) => this.#deadline.outside(() => this.#inner.elicit(key, options))
  }

  get openUrl(): Context['openUrl'] {
    return (key, options) => this.#deadline.outside(() => this.#inner.openUrl(key, options))
  }

  get sample(): Context['sample'] {
    return (key, params) => this.#deadline.outside(() => this.#inner.sample(key, params))
  }

  get roots(): Context['roots'] {
    return (key) => this.#deadline.outside(() => this.#inner.roots(key))
  }

  get ask(): Context['ask'] {
    return (questions) => this.#deadline.outside(() => this.#inner.ask(questions))
  }
}
