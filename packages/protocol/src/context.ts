/** The context of a handler: facts about one request, and functions to interact with the client while answering it. */

import type { Awaitable } from './async.ts'
import type { AuthInfo, RequestInfo } from './exchange.ts'
import type { JsonObject } from './messages.ts'
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitResult,
  InputRequest,
  InputResponse,
  ListRootsResult,
  RequestedSchema,
  Root,
} from './schemas/client-features.ts'
import type { LoggingLevel } from './schemas/server-features.ts'
import type { ClientCapabilities, Implementation } from './schemas/shared.ts'
import type { SchemaOutput, StandardSchema } from './standard-schema.ts'

/** The client, as it describes itself; to be shown, not to be trusted. */
export interface ClientFacts {
  /** Name and version of the client; undefined when it did not send them. */
  readonly info: Implementation | undefined
  /** The capabilities that the client declared. */
  readonly capabilities: ClientCapabilities
}

/** Sends log messages to the client, one function for each level, least severe first. */
export type Logger = {
  readonly [Level in LoggingLevel]: (data: unknown, logger?: string) => Awaitable<void>
}

/** The form for the user: a schema of any library, or the form itself. */
export type FormSchema = StandardSchema | RequestedSchema

/** The reaction of the user to a form; accepted values are valid. */
export type ElicitOutcome<Form> =
  | { readonly action: 'accept'; readonly content: Form extends StandardSchema ? SchemaOutput<Form> : JsonObject }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined }

/** Options of `Context.elicit`. */
export interface ElicitOptions<Form extends FormSchema> {
  /** Shown to the user. */
  readonly message: string
  /** A flat object of strings, numbers, booleans and choices. Never ask for secrets this way. */
  readonly schema: Form
}

/** Options of `Context.openUrl`. */
export interface OpenUrlOptions {
  /** Why the user should visit the URL. */
  readonly message: string
  /** The URL that the user should visit. */
  readonly url: string
}

/** The parameters of a sampling request. */
export type SampleParams = Omit<CreateMessageRequestParams, '_meta'>

/** An input request whose response has a type, made by `elicit()` and its like of the server. */
export interface Ask<Answer> {
  /** The input request as the protocol sends it. */
  readonly request: InputRequest
  /**
   * Returns the value for the handler, or why the user is asked again. Default: any response of the right kind is
   * valid.
   */
  readonly check?: (response: InputResponse) => Awaitable<{ readonly value: Answer } | { readonly problem: string }>
}

interface PlainAnswers {
  'elicitation/create': ElicitResult
  'sampling/createMessage': CreateMessageResult
  'roots/list': ListRootsResult
}

/**
 * The type of the response to an input request: one made by `elicit()` and its like, or a plain one of the protocol.
 */
export type Answered<Question> =
  Question extends Ask<infer Answer>
    ? Answer
    : Question extends { readonly method: infer Method extends keyof PlainAnswers }
      ? PlainAnswers[Method]
      : InputResponse

/** The request that a handler answers: facts about it, and functions that reach the client meanwhile. */
export interface Context {
  /** Fires when the response is no longer wanted. */
  readonly signal: AbortSignal
  /** The caller, as established by a guard. */
  readonly auth: AuthInfo | undefined
  /** The client that sent the request. */
  readonly client: ClientFacts
  /** The `_meta` of the request, unchanged. */
  readonly meta: JsonObject
  /** The responses of the client in this round to input requests that the handler returned itself. */
  readonly inputResponses: Readonly<Record<string, InputResponse>> | undefined
  /** The state that the handler returned with those input requests; it was sealed in transit. */
  readonly requestState: string | undefined
  /** Headers and URL; undefined without HTTP. */
  readonly requestInfo: RequestInfo | undefined
  /** Reports progress. Nothing is sent when the client did not ask for it. `done` must grow. */
  progress(done: number, total?: number, message?: string): Awaitable<void>
  /**
   * Sends log messages to the client, if it wants them and the server declares `logging`.
   *
   * @deprecated The protocol may drop logging from its first revision on or after 2027-07-28 on (SEP-2577): write to
   * stderr, or trace with OpenTelemetry.
   */
  readonly log: Logger
  /**
   * Closes the SSE stream; the call keeps running and the client reconnects to resume. Use it for work of minutes. Has no
   * effect when the client cannot resume: that needs HTTP, a session of 2025-11-25 and an event store.
   */
  closeStream(): void
  /** Asks the user to fill in a form. The key names the input request within this call and must not change. */
  elicit<Form extends FormSchema>(key: string, options: ElicitOptions<Form>): Promise<ElicitOutcome<Form>>
  /** Asks the user to visit a URL. `accept` means that they agreed to, not that they are done. */
  openUrl(key: string, options: OpenUrlOptions): Promise<ElicitResult>
  /**
   * Asks the client's model to generate a message.
   *
   * @deprecated The protocol may drop sampling from its first revision on or after 2027-07-28 on (SEP-2577): call the
   * model's provider.
   */
  sample(key: string, params: SampleParams): Promise<CreateMessageResult>
  /**
   * Returns the folders that the client works in.
   *
   * @deprecated The protocol may drop roots from its first revision on or after 2027-07-28 on (SEP-2577): take folders
   * as arguments, URIs or configuration.
   */
  roots(key?: string): Promise<Root[]>
  /**
   * Sends several input requests in one round. Those that the client does not support are not sent: their response is
   * missing.
   */
  ask<Questions extends Readonly<Record<string, InputRequest | Ask<unknown>>>>(
    questions: Questions,
  ): Promise<{ readonly [Key in keyof Questions]?: Answered<Questions[Key]> }>
  /** Runs a function once per call, however often the handler runs again. The result must be JSON. */
  step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result>
}
