/** What can be set for a client as a whole, and for one call. */

import type {
  Awaitable,
  Change,
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitResult,
  Era,
  Implementation,
  InputRequest,
  InputResponse,
  JsonObject,
  LoggingLevel,
  LoggingMessageNotificationParams,
  NotificationMessage,
  ProgressNotificationParams,
  RequestedSchema,
  Revision,
  Root,
} from '@mcpx/protocol'

/** Who asks, and for how long. */
export interface AskOrigin {
  /** What the server calls itself, to be shown to the user; nothing it says of itself is proven. */
  readonly server: Implementation | undefined
  /** Fires when the answer is no longer wanted. */
  readonly signal: AbortSignal
}

/** The server wants a form filled in. */
export interface FormAsk extends AskOrigin {
  readonly mode: 'form'
  readonly message: string
  readonly schema: RequestedSchema
}

/** The server wants the user to visit a URL. Show it whole, and open it only with consent. */
export interface UrlAsk extends AskOrigin {
  readonly mode: 'url'
  readonly message: string
  readonly url: string
}

export type ElicitAsk = FormAsk | UrlAsk

/** What the user did. Values that are left out are filled with the defaults of the form. */
export type ElicitAnswer = Pick<ElicitResult, 'action' | 'content'>

/** Where the era of each server is remembered, so that it is found out once. */
export interface EraMemory {
  get(peer: string): Awaitable<Era | undefined>
  /** Nothing as the era: it is to be forgotten. */
  set(peer: string, era: Era | undefined): Awaitable<void>
}

export interface ClientOptions {
  /** What this client calls itself. Default: `{ name: 'mcpx', version }`. False: say nothing wherever that is allowed. */
  readonly clientInfo?: Implementation | false | undefined
  /** Which era or revision to speak. Default: `auto`, which finds it out. A pinned one is never given up. */
  readonly era?: 'auto' | Era | Revision | undefined
  /** Asks the user. Giving it declares elicitation. */
  readonly onElicit?: ((ask: ElicitAsk) => Awaitable<ElicitAnswer>) | undefined
  /** Which ways of asking the user there are. Default: both. */
  readonly elicitationModes?: readonly ElicitAsk['mode'][] | undefined
  /**
   * Has a model write something. Giving it declares sampling. Throw `userRejected()` when the user says no.
   * @deprecated by the newest revision of the protocol; servers of all ages may still need it.
   */
  readonly onSample?:
    | ((params: CreateMessageRequestParams, origin: AskOrigin) => Awaitable<CreateMessageResult>)
    | undefined
  /** What `onSample` can do besides writing. Default: nothing. */
  readonly sampling?: { readonly tools?: boolean | undefined; readonly context?: boolean | undefined } | undefined
  /**
   * The folders to work in, as `file:` URIs. Giving them declares roots.
   * @deprecated by the newest revision of the protocol; servers of all ages may still need it.
   */
  readonly roots?: readonly Root[] | (() => Awaitable<readonly Root[]>) | undefined
  /** What is declared besides what the callbacks can do: extensions, or what the `onAsk` of each call will answer. */
  readonly capabilities?: ClientCapabilities | undefined
  /**
   * Hears log messages of the server.
   * @deprecated by the newest revision of the protocol; servers of all ages may still need it.
   */
  readonly onLog?: ((entry: LoggingMessageNotificationParams) => void) | undefined
  /** From which level on log messages are wanted. Default: `info` when there is an `onLog`, else none. */
  readonly logLevel?: LoggingLevel | undefined
  /** Hears of changes as long as the client is open: list changes, and updates of what `subscribe` named. */
  readonly onChange?: ((change: Change) => void) | undefined
  /**
   * How long to wait for an answer, in ms; progress starts it again. The time in which questions of the server are
   * answered does not count. Default: 60,000. Over: `ConnectionError` `timeout`.
   */
  readonly timeout?: number | undefined
  /**
   * How long a call may take in all, in ms, whatever progress it makes; the time in which questions of the server are
   * answered does not count. Default: 600,000. Over: `ConnectionError` `timeout`.
   */
  readonly maxTimeout?: number | undefined
  /** How often one call may come back with questions. Default: 10. More: `ConnectionError` `limit`. */
  readonly maxRounds?: number | undefined
  /** How many pages of one list are read. Default: 1,000. More: `ConnectionError` `limit`. */
  readonly maxPages?: number | undefined
  /** How many answers are kept while they are fresh; false: none. Default: 256. When full, the oldest goes. */
  readonly cache?: number | false | undefined
  /** Default: remembers for as long as the process lives. */
  readonly eraMemory?: EraMemory | undefined
  /** Called with every problem that was ignored, dropped or masked. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
  /** Gives up connecting. It has no effect on an open client. */
  readonly signal?: AbortSignal | undefined
}

/** How far the work is. */
export type Progress = Pick<ProgressNotificationParams, 'progress' | 'total' | 'message'>

export interface CallOptions {
  /** Cancels the call; the server is told. */
  readonly signal?: AbortSignal | undefined
  /** How long to wait for an answer, in ms; progress starts it again. Default: the client's. */
  readonly timeout?: number | undefined
  /** How long the call may take in all, in ms. Default: the client's. */
  readonly maxTimeout?: number | undefined
  /** Hears how far the work is. Giving it asks the server for progress. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Hears all that the server says about this call before it answers. */
  readonly onNotification?: ((notification: NotificationMessage) => void) | undefined
  /** Extra facts for the server, under names with a prefix. An answer to a call with them is not kept. */
  readonly meta?: JsonObject | undefined
  /** The log messages wanted from this call. Default: the client's. Ignored where the level belongs to the session. */
  readonly logLevel?: LoggingLevel | undefined
  /** Ask the server even if a fresh answer is at hand. Default: false. */
  readonly fresh?: boolean | undefined
  /**
   * Hears the log messages of this call, instead of the client's `onLog`. Over a pipe nothing says which call a message
   * belongs to: while several calls listen, the client's `onLog` hears it.
   */
  readonly onLog?: ((entry: LoggingMessageNotificationParams) => void) | undefined
  /**
   * Answers what the server asks during this call, instead of the client's callbacks. Over a pipe to a legacy server
   * nothing says which call asks: calls with an `onAsk` wait for each other there, for as long as their `timeout` says.
   */
  readonly onAsk?: ((request: InputRequest, origin: AskOrigin) => Awaitable<InputResponse>) | undefined
}

export interface RequestCallOptions extends CallOptions {
  /** `pass`: an unfinished result is the result, to be carried on by the caller. Default: `answer` what it asks. */
  readonly input?: 'answer' | 'pass' | undefined
  /** What is declared for this call. Default: what the callbacks can do. Ignored where a handshake declares it. */
  readonly capabilities?: ClientCapabilities | undefined
  /**
   * `own`: over a pipe, this call waits until no other one runs whose log messages could be taken for its own. Default:
   * `mixed`.
   */
  readonly logs?: 'own' | 'mixed' | undefined
  /** Words of extensions that are understood as the `resultType`. Default: none. */
  readonly resultTypes?: readonly string[] | undefined
}
