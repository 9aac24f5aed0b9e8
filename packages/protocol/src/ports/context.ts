/** What a handler may know and do while it answers one request. */

import type { JsonObject } from '../jsonrpc/message.ts'
import type { ElicitResult, RequestedSchema } from '../schema/elicitation.ts'
import type { InputRequest, InputResponse } from '../schema/input-required.ts'
import type { ClientCapabilities, Implementation } from '../schema/lifecycle.ts'
import type { LoggingLevel } from '../schema/logging.ts'
import type { ListRootsResult, Root } from '../schema/roots.ts'
import type { CreateMessageRequestParams, CreateMessageResult } from '../schema/sampling.ts'
import type { AuthInfo } from './auth-info.ts'
import type { Awaitable } from './awaitable.ts'
import type { RequestInfo } from './exchange.ts'
import type { SchemaOutput, StandardSchema } from './standard-schema.ts'

/** Who is asking, as they say; to be shown, not to be trusted. */
export interface ClientFacts {
  readonly info: Implementation | undefined
  readonly capabilities: ClientCapabilities
}

/** Writes log messages to the client, one function for each level, least urgent first. */
export type Logger = {
  readonly [Level in LoggingLevel]: (data: unknown, logger?: string) => Awaitable<void>
}

/** The form that the user is asked to fill in: a schema of any library, or the form itself. */
export type FormSchema = StandardSchema | RequestedSchema

/** What the user did with a form; its values fit the schema. */
export type ElicitOutcome<Form> =
  | { readonly action: 'accept'; readonly content: Form extends StandardSchema ? SchemaOutput<Form> : JsonObject }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined }

export interface ElicitOptions<Form extends FormSchema> {
  /** What to tell the user. */
  readonly message: string
  /** A flat object of strings, numbers, booleans and choices. Never ask for secrets this way. */
  readonly schema: Form
}

export interface OpenUrlOptions {
  /** Why the user should go there. */
  readonly message: string
  readonly url: string
}

export type SampleParams = Omit<CreateMessageRequestParams, '_meta'>

/** A question whose answer has a type, made by `elicit()` and the like of the server. */
export interface Ask<Answer> {
  readonly request: InputRequest
  /** The answer that the handler gets, or why it is to be asked again. Default: any answer of the right kind. */
  readonly check?: (response: InputResponse) => Awaitable<{ readonly value: Answer } | { readonly problem: string }>
}

interface PlainAnswers {
  'elicitation/create': ElicitResult
  'sampling/createMessage': CreateMessageResult
  'roots/list': ListRootsResult
}

/** What a question is answered with: one made by `elicit()` and the like, or a request as the protocol has it. */
export type Answered<Question> =
  Question extends Ask<infer Answer>
    ? Answer
    : Question extends { readonly method: infer Method extends keyof PlainAnswers }
      ? PlainAnswers[Method]
      : InputResponse

export interface Context {
  /** Fires when the answer is no longer wanted. */
  readonly signal: AbortSignal
  /** Who is asking, as established by a guard. */
  readonly auth: AuthInfo | undefined
  readonly client: ClientFacts
  /** The request's `_meta`, as it came. */
  readonly meta: JsonObject
  /** What the client answered in this round to questions that the handler wrote by hand. */
  readonly inputResponses: Readonly<Record<string, InputResponse>> | undefined
  /** The state that the handler wrote by hand with those questions; it was sealed on its way. */
  readonly requestState: string | undefined
  /** Headers and URL; nothing where there is no HTTP. */
  readonly requestInfo: RequestInfo | undefined
  /** Tells how far the work is. Nothing is sent when the client did not ask for it. `done` must grow. */
  progress(done: number, total?: number, message?: string): Awaitable<void>
  /**
   * Writes messages to the client, as far as it wants them and the server declares `logging`.
   *
   * @deprecated The protocol may drop logging from its first revision on or after 2027-07-28 on (SEP-2577): write to
   * stderr, or trace with OpenTelemetry.
   */
  readonly log: Logger
  /**
   * Closes the SSE stream; the call keeps running and the client reconnects to resume. Use it for work of minutes. Does
   * nothing when the client cannot resume: that needs HTTP, a session of 2025-11-25 and an event store.
   */
  closeStream(): void
  /** Asks the user to fill in a form. The key names the question within this call and must not change. */
  elicit<Form extends FormSchema>(key: string, options: ElicitOptions<Form>): Promise<ElicitOutcome<Form>>
  /** Asks the user to visit a URL. `accept` means that they agreed to, not that they are done. */
  openUrl(key: string, options: OpenUrlOptions): Promise<ElicitResult>
  /**
   * Asks the client's model.
   *
   * @deprecated The protocol may drop sampling from its first revision on or after 2027-07-28 on (SEP-2577): call the
   * model's provider.
   */
  sample(key: string, params: SampleParams): Promise<CreateMessageResult>
  /**
   * The folders that the client works in.
   *
   * @deprecated The protocol may drop roots from its first revision on or after 2027-07-28 on (SEP-2577): take folders
   * as arguments, URIs or configuration.
   */
  roots(key?: string): Promise<Root[]>
  /** Asks several things in one round. What the client cannot be asked is not asked: its answer is missing. */
  ask<Questions extends Readonly<Record<string, InputRequest | Ask<unknown>>>>(
    questions: Questions,
  ): Promise<{ readonly [Key in keyof Questions]?: Answered<Questions[Key]> }>
  /** Does something once per call, however often the handler is entered again. The result must be JSON. */
  step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result>
}
