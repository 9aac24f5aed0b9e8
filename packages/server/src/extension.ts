/**
 * The interface of extensions. An extension is an optional feature of the protocol, which `createServer` adds to a
 * server.
 */

import type {
  AuthInfo,
  Awaitable,
  CheckingSchema,
  ClientFacts,
  Context,
  Era,
  Implementation,
  InputRequest,
  InputRequiredResult,
  InputResponse,
  JsonObject,
  ObservedWork,
  Outcome,
  RequestInfo,
  RpcError,
  SchemaInput,
  SchemaOutput,
  ServerLoad,
  Store,
  Tool,
} from '@mcpx/protocol'
import type { Middleware, ServerRequest } from './middleware.ts'
import type { OwningHandler } from './mount/combine.ts'

/** A request method of an extension. `defineMethod` creates it with types. */
export interface ExtensionMethod {
  /** The schema of the parameters, without `_meta`. Default: parameters are not checked. */
  readonly params?: CheckingSchema | undefined
  /**
   * The schema of the result, without `_meta`. A result that does not match is reported to `onError` and masked.
   * Default: results are not checked.
   */
  readonly result?: CheckingSchema | undefined
  /**
   * Whether only clients that declare the extension may send the request. Others receive the error -32021, before the
   * parameters are checked. Default: false.
   */
  readonly requiresDeclaration?: boolean | undefined
  /**
   * Whether results have cache hints. If hints are missing, the results are not cacheable and private. Default: false.
   */
  readonly cacheable?: boolean | undefined
  /** Whether the handler may ask the client for input, as `ctx.elicit` does. Default: false. */
  readonly mayAsk?: boolean | undefined
  /** Returns the result. */
  run(params: never, ctx: Context): Awaitable<object>
}

/** A member of the filter of `subscriptions/listen`. `defineSubscription` creates it with types. */
export interface ExtensionSubscription {
  /** The schema of the value that clients send. */
  readonly value: CheckingSchema
  /** Whether only clients that declare the extension may send the member. Others receive the error -32021. Default: false. */
  readonly requiresDeclaration?: boolean | undefined
  /** Starts a source of notifications. Returns undefined if the member is not supported for this caller. */
  open(value: never, subscriber: Subscriber): Awaitable<OpenedSubscription | undefined>
}

/** A client that has sent `subscriptions/listen`. */
export interface Subscriber {
  /** The context of the request, with its caller and its client. */
  readonly ctx: Context
  /**
   * Sends a notification whose method is in `notifications` of the extension. The first notification waits until the
   * subscription is acknowledged. Resolves when the next notification can be sent. Await the promise, and combine
   * changes that happen in the meantime into one notification, because the number of waiting notifications is not
   * limited. Has no effect after the end of the stream.
   */
  notify(method: string, params: JsonObject): Promise<void>
}

/** A source of notifications for one stream. */
export interface OpenedSubscription {
  /** The acknowledged value of the filter member: the part that this caller may subscribe to. */
  readonly acknowledged: unknown
  /** Ends the source. Called once, when the stream ends. */
  close(): Awaitable<void>
}

/** An option of `server.tool` that belongs to an extension. Declare its type as a member of `ExtensionToolOptions`. */
export interface ExtensionToolOption {
  /**
   * Returns a sentence about an invalid value, such as `expected a boolean, got string`. `options` has all options of
   * the tool. Default: any value is valid.
   */
  check?(value: unknown, options: Readonly<Record<string, unknown>>): string | undefined
  /** Returns the definition of the tool that clients see. Called when the tool is registered. Default: unchanged. */
  define?(definition: Tool, value: unknown): Tool
}

/** The members that an extension adds to a server. */
export interface ExtensionMembers {
  /** Request methods by name. They run through the middleware of the server. Default: none. */
  readonly methods?: Readonly<Record<string, ExtensionMethod>> | undefined
  /** Result types, with the methods whose results may have them, such as `{ task: ['tools/call'] }`. Default: none. */
  readonly resultTypes?: Readonly<Record<string, readonly string[]>> | undefined
  /** Members of the filter of `subscriptions/listen`. Modern era only. Default: none. */
  readonly subscriptions?: Readonly<Record<string, ExtensionSubscription>> | undefined
  /** The notifications that `Subscriber.notify` sends. Default: none. */
  readonly notifications?: readonly string[] | undefined
  /**
   * The error codes from -32099 to -32020 that the extension sends. Codes in this range that are not listed become
   * -32603. Default: none.
   */
  readonly errorCodes?: readonly number[] | undefined
  /**
   * Runs right before the handler, after all middleware of `server.use`. If this server is mounted in another server,
   * only the middleware of the outer server's extensions runs. Default: none.
   */
  readonly middleware?: Middleware | undefined
  /** Options of tools by name. Default: none. */
  readonly toolOptions?: Readonly<Record<string, ExtensionToolOption>> | undefined
  /** A handler with tools, resources and prompts, which is added to the server without a prefix. Default: none. */
  readonly handler?: OwningHandler | undefined
}

/**
 * An extension of the protocol. It is a plain object, or an instance of a class that has further methods for its users.
 * Other members are refused. `createServer(info, { extensions: [greetings] })` adds it.
 *
 * ```ts
 * const greetings: ServerExtension = {
 *   id: 'com.example/greetings',
 *   methods: {
 *     'com.example/greet': defineMethod({ params: z.object({ name: z.string() }) }, ({ name }) => ({ text: `Hello, ${name}!` })),
 *   },
 * }
 * ```
 */
export interface ServerExtension extends ExtensionMembers {
  /** The id: a prefix of the author's domain, a slash and a name, such as `com.example/greetings`. */
  readonly id: string
  /**
   * The settings in `capabilities.extensions` of the server. With `false`, the server does not declare the extension;
   * only clients do. Default: `{}`.
   */
  readonly settings?: JsonObject | false | undefined
  /**
   * The eras in which the extension is declared. In the legacy era, only revision 2025-11-25 has extensions. Default:
   * both.
   */
  readonly eras?: readonly Era[] | undefined
  /** Called once for each server that uses the extension. Returns further members, which can use the server. */
  install?(host: ExtensionHost): ExtensionMembers | undefined
}

/** The members of a server that its extensions can use. */
export interface ExtensionHost {
  /** Name and version of the server. */
  readonly info: Implementation
  /** The `store` option of the server. Undefined if it has none. */
  readonly store: Store | undefined
  /** Aborted when the server is closed. */
  readonly closing: AbortSignal
  /** Reports a fault to `onError` of the server, and returns the id that a client may see. */
  report(error: unknown, ctx?: Context, request?: ServerRequest): string
  /** Calls `onWarning` of the server. */
  warn(warning: Error): void
  /** Returns the error for a response. Protocol errors are unchanged; all others are reported and masked. */
  toRpcError(error: unknown, ctx?: Context, request?: ServerRequest): RpcError
  /** Converts the return value of a handler or middleware to a result. Throws if it is not an object or is nested too deep. */
  toResult(request: ServerRequest, returned: unknown): object
  /**
   * Encrypts data with the `secrets` of the server. Returns a string that `open` accepts for `ttl` ms, with the same
   * binding and on servers with the same secrets.
   */
  seal(data: JsonObject, binding: string, ttl: number): Promise<string>
  /**
   * Decrypts the result of `seal`. Rejects if it was altered, has expired, or was created with another binding or other
   * secrets.
   */
  open(sealed: string, binding: string): Promise<JsonObject>
  /**
   * Returns the options of a tool that belong to extensions. It also finds tools of mounted servers. Returns undefined
   * if the tool has no such options or the caller may not call it.
   */
  toolOptions(tool: string, ctx: Context): ExtensionToolOptions | undefined
  /**
   * Returns the answers and the results of steps that a request has so far. They include answers and steps of
   * middleware. Modern era only.
   */
  stateOf(ctx: Context): { readonly answers: JsonObject; readonly steps: JsonObject }
  /** Returns the caller to whom shared limits apply. Returns undefined if the transport has only one peer. */
  callerOf(ctx: Context): string | undefined
  /** Returns whether a client can answer an input request, by its declared capabilities. */
  canAnswer(request: InputRequest, client: Pick<ClientFacts, 'capabilities'>): boolean
  /**
   * Creates the context of work that may take longer than its request. All members that `work` does not define come
   * from `base`, the context of the request. Default of `base`: a context that sends nothing.
   */
  createContext(work: LongWork, base?: Context): Context
  /** Runs a request through the middleware and the handler, as if its client had sent it. */
  run(request: ServerRequest, ctx: Context): Promise<object>
  /**
   * Runs work, and reports it to `telemetry` of the server. `run` may call `end` with the outcome. By default, the
   * outcome is the return value or the error of `run`.
   */
  observe<Result>(work: ObservedWork, run: (end: (outcome: Outcome) => void) => Promise<Result>): Promise<Result>
  /** Lets the option `telemetry` of the server read the load of the extension, until the server is closed. */
  reportLoad(readLoad: () => ServerLoad): void
}

/** The functions that the context of long work uses. */
export interface LongWork {
  /** The request that the work answers. */
  readonly request: ServerRequest
  /** Replaces `ctx.signal`. */
  readonly signal: AbortSignal
  /** The caller. */
  readonly auth: AuthInfo | undefined
  /** The client. Its capabilities determine which questions can be asked. */
  readonly client: Pick<ClientFacts, 'info' | 'capabilities'>
  /** The HTTP request. Default: none. */
  readonly requestInfo?: RequestInfo | undefined
  /**
   * Sends a question to the client, and returns a response of the right type. If the content of the response is
   * invalid, `ask` is called again with another key.
   */
  ask(key: string, request: InputRequest): Promise<InputResponse>
  /** Runs a step once, and returns its result as JSON values. */
  step(key: string, run: () => Promise<unknown>): Promise<unknown>
  /** Replaces `ctx.progress`. */
  progress(done: number, total?: number, message?: string): Awaitable<void>
  /**
   * Further members of the context, so that the extension can recognize its contexts. Use symbols as keys. Default:
   * none.
   */
  readonly members?: Readonly<Record<symbol, unknown>> | undefined
}

/**
 * The options of tools that belong to extensions, by name. Packages with extensions add members.
 *
 * ```ts
 * declare module '@mcpx/server' {
 *   interface ExtensionToolOptions {
 *     cost?: number | undefined
 *   }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: packages with extensions add members
export interface ExtensionToolOptions {}

type Output<Schema> = [Schema] extends [never] ? JsonObject : SchemaOutput<Schema>

type Result<Schema> = [Schema] extends [never] ? object : (SchemaInput<Schema> & object) | InputRequiredResult

/**
 * Creates a method of an extension. `run` receives the output of the `params` schema, and returns the input of the
 * `result` schema. Both schemas can be the schemas of the client's extension.
 *
 * ```ts
 * defineMethod({ params: z.object({ name: z.string() }) }, ({ name }, ctx) => ({ text: `Hello, ${name}!` }))
 * ```
 */
export function defineMethod<Params extends CheckingSchema = never, Returned extends CheckingSchema = never>(
  options: Omit<ExtensionMethod, 'run' | 'params' | 'result'> & {
    readonly params?: Params | undefined
    readonly result?: Returned | undefined
  },
  run: (params: Output<Params>, ctx: Context) => Awaitable<Result<Returned>>,
): ExtensionMethod {
  return { ...options, run }
}

/** Creates a member of the filter of `subscriptions/listen`. `open` receives the output of the `value` schema. */
export function defineSubscription<Value extends CheckingSchema>(
  options: Omit<ExtensionSubscription, 'open' | 'value'> & { readonly value: Value },
  open: (value: SchemaOutput<Value>, subscriber: Subscriber) => Awaitable<OpenedSubscription | undefined>,
): ExtensionSubscription {
  return { ...options, open }
}
