/** The context of a handler: facts about one request, and functions that communicate with its client. */

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
import type { FlatSchema } from './usable-schema.ts'

/** The client's description of itself. It is not authenticated: display it, but do not trust it. */
export interface ClientFacts {
  /** Name and version of the client. Undefined if it did not send them. */
  readonly info: Implementation | undefined
  /** The capabilities that the client declared. */
  readonly capabilities: ClientCapabilities
  /**
   * Returns whether the client declared an extension, such as `com.example/credits`. A name without a prefix, such as `ui`,
   * is an extension of the protocol: `io.modelcontextprotocol/ui`. If an extension of this server is limited to one era,
   * declaring it in the other era has no effect.
   */
  supports(extension: string): boolean
}

/**
 * Sends log messages to the client, one function for each level, least severe first. An Error is sent as a string with its
 * name and its message.
 */
export type Logger = {
  readonly [Level in LoggingLevel]: (data: unknown, logger?: string) => Awaitable<void>
}

/** The type of a form: a schema of any library, or the form itself. */
export type FormSchema = StandardSchema | RequestedSchema

/** The user's response to a form. Accepted values match the schema. */
export type ElicitOutcome<Form> =
  | { readonly action: 'accept'; readonly content: Form extends StandardSchema ? SchemaOutput<Form> : JsonObject }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined }

/** Options of `Context.elicit`. */
export type ElicitOptions<Form extends FormSchema> = FormOptions<Form> & {
  /**
   * The fallback for clients that cannot show forms: the outcome for the handler, or a message for the model, which
   * becomes the result of the tool. Default: `onUnsupported` of the server, otherwise an error that names the missing
   * capability.
   */
  readonly otherwise?: string | ElicitOutcome<NoInfer<Form>> | undefined
  readonly schema: FlatSchema<'schema', Form>
}

interface FormOptions<Form> {
  /** The message for the user. */
  readonly message: string
  /** The fields: a flat object of strings, numbers, booleans and choices. Never request secrets with a form. */
  readonly schema: Form
}

/** Options of `Context.openUrl`. */
export interface OpenUrlOptions {
  /** The reason to visit the URL, for the user. */
  readonly message: string
  /** The URL that the user should visit. */
  readonly url: string
  /**
   * The fallback for clients that cannot open URLs: the outcome for the handler, or a message for the model, for
   * example with the URL. Default: `onUnsupported` of the server, otherwise an error that names the missing capability.
   */
  readonly otherwise?: string | ElicitResult | undefined
}

/** The parameters of a sampling request. */
export type SampleParams = Omit<CreateMessageRequestParams, '_meta'>

/** An input request with a typed response, created by `elicit()`, `openUrl()`, `sample()` or `roots()` of the server. */
export interface Ask<Answer> {
  /** The input request as the protocol sends it. */
  readonly request: InputRequest
  /**
   * Returns the value for the handler, or a problem, after which the user is asked again. Default: any response of the
   * right type is valid.
   */
  readonly check?: (response: InputResponse) => Awaitable<{ readonly value: Answer } | { readonly problem: string }>
  /**
   * The fallback for clients that do not support the request: the value for the handler, or a message for the model.
   * Default: none.
   */
  readonly otherwise?: string | Answer | undefined
}

interface PlainAnswers {
  'elicitation/create': ElicitResult
  'sampling/createMessage': CreateMessageResult
  'roots/list': ListRootsResult
}

/**
 * The type of the response to an input request, which is an `Ask` or a plain request of the protocol.
 */
export type Answered<Question> =
  Question extends Ask<infer Answer>
    ? Answer
    : Question extends { readonly method: infer Method extends keyof PlainAnswers }
      ? PlainAnswers[Method]
      : InputResponse

/** The request that a handler answers: facts about it, and functions that communicate with the client. */
export interface Context {
  /** Aborted when the request is cancelled. */
  readonly signal: AbortSignal
  /** The caller that a guard has authenticated. Undefined for anonymous callers. */
  readonly auth: AuthInfo | undefined
  /** The client that sent the request. */
  readonly client: ClientFacts
  /** The `_meta` of the request, unchanged. */
  readonly meta: JsonObject
  /**
   * The responses of the client to the input requests that the handler returned with `inputRequired` in its previous
   * run.
   */
  readonly inputResponses: Readonly<Record<string, InputResponse>> | undefined
  /** The state that the handler returned with these input requests. It is encrypted while the client has it. */
  readonly requestState: string | undefined
  /** The headers and the URL of the HTTP request. Undefined without HTTP. */
  readonly requestInfo: RequestInfo | undefined
  /** Reports progress, if the client requested it. `done` must increase with each call. */
  progress(done: number, total?: number, message?: string): Awaitable<void>
  /**
   * Sends log messages to the client, if it wants them and the server declares `logging`.
   *
   * @deprecated A revision published on or after 2027-07-28 may remove logging (SEP-2577): write to stderr, or trace with
   * OpenTelemetry.
   */
  readonly log: Logger
  /**
   * Closes the SSE stream; the call keeps running and the client reconnects to resume. Use it for calls that take minutes.
   * Has no effect if the client cannot resume, which needs HTTP, a session of 2025-11-25 and an event store.
   */
  closeStream(): void
  /** Asks the user to fill in a form. The key identifies the question and must be the same in all runs of a call. */
  elicit<Form extends FormSchema>(key: string, options: ElicitOptions<Form>): Promise<ElicitOutcome<Form>>
  /** Asks the user to visit a URL. `accept` means that the user agreed to open it, not that the visit is complete. */
  openUrl(key: string, options: OpenUrlOptions): Promise<ElicitResult>
  /**
   * Asks the client's model to generate a message.
   *
   * @deprecated A revision published on or after 2027-07-28 may remove sampling (SEP-2577): call the API of a model
   * provider.
   */
  sample(key: string, params: SampleParams): Promise<CreateMessageResult>
  /**
   * Returns the folders that the client works in.
   *
   * @deprecated A revision published on or after 2027-07-28 may remove roots (SEP-2577): accept folders as arguments, URIs
   * or configuration.
   */
  roots(key?: string): Promise<Root[]>
  /**
   * Sends several input requests at once. Requests that the client does not support are not sent; the result has no
   * members for their keys.
   */
  ask<Questions extends Readonly<Record<string, InputRequest | Ask<unknown>>>>(
    questions: Questions,
  ): Promise<{ readonly [Key in keyof Questions]?: Answered<Questions[Key]> }>
  /** Runs a function once per call, even if the handler runs several times. The result must be JSON. */
  step<Result>(key: string, run: () => Awaitable<Result>): Promise<Result>
}
