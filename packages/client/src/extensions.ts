/** The extensions of a client: their declarations, their checks, and `client.extension(...)`. */

import {
  type CheckingSchema,
  type ClientCapabilities,
  ConnectionError,
  type Era,
  eraOf,
  guarded,
  type InputRequest,
  type InputResponse,
  isExtensionId,
  type JsonObject,
  kindOf,
  methodEntry,
  type NotificationMessage,
  placeOf,
  problemOf,
  quoted,
  REVISIONS,
  refuseUnknownOption,
  type Schema,
  type SchemaInput,
  type SchemaOutput,
  SubscriptionFilter,
} from '@mcpx/protocol'
import type { Listening } from './change-stream.ts'
import { type EraConnection, invalidResult } from './era.ts'
import type { CallOptions, ClientOptions, ListenOptions, RequestCallOptions } from './options.ts'

/** A request method of an extension. */
export interface ExtensionMethod {
  /** The schema of the parameters. Default: any object. */
  readonly params?: CheckingSchema | undefined
  /** The schema of the result. Default: any object. */
  readonly result?: CheckingSchema | undefined
  /**
   * Whether the result may be `input_required`. The callbacks of the client then answer the input requests. Default:
   * false.
   */
  readonly mayAsk?: boolean | undefined
}

/** Converts a result with a result type of an extension to the complete result of the method. */
export type CompleteResult = (result: JsonObject, call: ExtensionCall) => Promise<JsonObject>

/**
 * An extension of the protocol, for the option `extensions` of `connect`. It is a plain object.
 *
 * ```ts
 * const greetings = {
 *   id: 'com.example/greetings',
 *   methods: { 'com.example/greet': { params: z.object({ name: z.string() }), result: z.object({ text: z.string() }) } },
 * } satisfies ClientExtension
 * ```
 */
export interface ClientExtension {
  /** The id: a prefix of the author's domain, a slash and a name, such as `com.example/greetings`. */
  readonly id: string
  /** The settings that are declared to servers in `capabilities.extensions`. Default: `{}`. */
  readonly settings?: JsonObject | undefined
  /**
   * The eras in which the extension is declared. In the legacy era, only revision 2025-11-25 has extensions. Default:
   * both.
   */
  readonly eras?: readonly Era[] | undefined
  /** The request methods of the extension, by name. Default: none. */
  readonly methods?: Readonly<Record<string, ExtensionMethod>> | undefined
  /** The schemas of the parameters of notifications, by method. Default: none. */
  readonly notifications?: Readonly<Record<string, CheckingSchema>> | undefined
  /**
   * The schemas of the members that the extension adds to the filter of `subscriptions/listen`, by name. Default: none.
   */
  readonly subscriptions?: Readonly<Record<string, CheckingSchema>> | undefined
  /**
   * The values of `resultType` that the extension adds, with the methods whose results may have them. Modern era only.
   * Default: none.
   */
  readonly resultTypes?: Readonly<Record<string, Readonly<Record<string, CompleteResult>>>> | undefined
}

/** The call whose result an extension completes. */
export interface ExtensionCall {
  /** The name of the call in error messages, such as `tools/call "add"`. */
  readonly label: string
  /** The era of the connection. */
  readonly era: Era
  /** The options of the call. */
  readonly options: CallOptions
  /** The options of the client. */
  readonly client: ClientOptions
  /** Aborted when the result is no longer needed, and when the client is closed. */
  readonly signal: AbortSignal
  /** Sends another request over the current connection. */
  request(method: string, params: JsonObject, options?: RequestCallOptions): Promise<JsonObject>
  /**
   * Answers an input request with the callbacks of the call, otherwise with the callbacks of the client. If `key` is
   * set, the callbacks receive it.
   */
  answer(request: InputRequest, signal: AbortSignal, key?: string): Promise<InputResponse>
  /** Calls a function with the parameters of each notification of a method. Returns a function that removes it. */
  on(method: string, callback: (params: unknown) => void): () => void
  /** Opens a stream of notifications. */
  listen(filter: JsonObject, options?: ListenOptions): Listening
}

type Named<Members> = keyof NonNullable<Members> & string
type MemberOf<Members, Name> = Name extends keyof NonNullable<Members> ? NonNullable<Members>[Name] : never
type InputOf<Method> = Method extends { readonly params: infer Params } ? SchemaInput<Params> : JsonObject
type ResultOf<Method> = Method extends { readonly result: infer Result } ? SchemaOutput<Result> : JsonObject

/** The part of a client that belongs to one extension, typed by its schemas. */
export interface ExtensionClient<Extension extends ClientExtension> {
  /** The settings that the server declares. Undefined if the server does not support the extension. */
  readonly settings: JsonObject | undefined
  /**
   * Sends a request. Its parameters and its result are checked.
   *
   * @throws ConnectionError with the reason `unsupported` if the server does not declare the extension. Then no request
   * is sent
   */
  request<Method extends Named<Extension['methods']>>(
    method: Method,
    ...rest: Record<never, never> extends InputOf<MemberOf<Extension['methods'], Method>>
      ? [params?: InputOf<MemberOf<Extension['methods'], Method>>, options?: RequestCallOptions]
      : [params: InputOf<MemberOf<Extension['methods'], Method>>, options?: RequestCallOptions]
  ): Promise<ResultOf<MemberOf<Extension['methods'], Method>>>
  /**
   * Calls a function with the parameters of each notification of a method. Invalid notifications are ignored, with a
   * warning.
   *
   * @returns a function that removes the listener
   */
  on<Method extends Named<Extension['notifications']>>(
    method: Method,
    callback: (params: SchemaOutput<MemberOf<Extension['notifications'], Method>>) => void,
  ): () => void
  /**
   * Subscribes to notifications until `close()` is called. The listeners of `on` receive them. A lost stream is opened
   * again, but notifications in the meantime are lost. In the legacy era, servers send notifications without a
   * subscription.
   */
  listen(
    filter: {
      readonly [Member in Named<Extension['subscriptions']>]?: SchemaInput<MemberOf<Extension['subscriptions'], Member>>
    },
    options?: ListenOptions,
  ): Listening
}

type Kind = 'method' | 'notification' | 'subscription' | 'result type'

const MEMBERS = ['id', 'settings', 'eras', 'methods', 'notifications', 'subscriptions', 'resultTypes']

/** The extensions of a client: the option `extensions` and the built-in extensions. */
export class Extensions {
  readonly #all: ClientExtension[] = []
  /** The members of all extensions by kind and name. */
  readonly #members = new Map<string, { readonly extension: ClientExtension; readonly value: unknown }>()
  readonly #listeners = new Map<string, Set<(params: unknown) => void>>()
  readonly #onWarning: (warning: Error) => void

  /** Throws if an extension is invalid, or has a member that belongs to the protocol or to another extension. */
  constructor(
    builtIn: readonly ClientExtension[],
    given: readonly ClientExtension[],
    onWarning: (warning: Error) => void,
  ) {
    this.#onWarning = onWarning
    if (!Array.isArray(given)) throw new TypeError(`extensions: expected an array of extensions, got ${kindOf(given)}`)
    for (const each of builtIn) this.#add(each, 'extensions')
    for (const [index, each] of given.entries()) this.#add(each, `extensions[${index}]`)
  }

  #add(extension: ClientExtension, place: string): void {
    refuseUnknownOption(place, extension, MEMBERS)
    const { id, methods = {}, notifications = {}, subscriptions = {}, resultTypes = {} } = extension
    if (typeof id !== 'string' || !isExtensionId(id)) {
      const got = typeof id === 'string' ? quoted(id) : kindOf(id)
      throw new TypeError(`${place}.id: expected a prefix and a name, such as com.example/greetings, got ${got}`)
    }
    if (this.#all.some((each) => each.id === id)) {
      throw new TypeError(`${place}.id: the client has the extension ${quoted(id)} already`)
    }
    this.#all.push(extension)
    const results = Object.entries(resultTypes).flatMap(([type, completions]) =>
      Object.entries(completions).map(([method, complete]) => [`${type} of ${method}`, complete] as const),
    )
    this.#addMembers('method', Object.entries(methods), extension, place)
    this.#addMembers('notification', Object.entries(notifications), extension, place)
    this.#addMembers('subscription', Object.entries(subscriptions), extension, place)
    this.#addMembers('result type', results, extension, place)
  }

  #addMembers(kind: Kind, members: readonly (readonly [string, unknown])[], extension: ClientExtension, place: string) {
    for (const [name, value] of members) {
      const key = `${kind} ${name}`
      const owner = isOfProtocol(kind, name, extension) ? 'the protocol' : this.#members.get(key)?.extension.id
      if (owner !== undefined) throw new TypeError(`${place}: the ${kind} ${quoted(name)} belongs to ${owner}`)
      this.#members.set(key, { extension, value })
    }
  }

  /** Adds the extensions of an era to capabilities. */
  declare(era: Era, capabilities: ClientCapabilities): ClientCapabilities {
    const own = this.#all.filter((each) => existsIn(each, era)).map(({ id, settings = {} }) => [id, settings])
    if (own.length === 0) return capabilities
    return { ...capabilities, extensions: { ...capabilities.extensions, ...Object.fromEntries(own) } }
  }

  /** Returns a method that exists in an era. */
  method(era: Era, name: string): ExtensionMethod | undefined {
    const { extension, value } = this.#members.get(`method ${name}`) ?? {}
    return extension && existsIn(extension, era) ? (value as ExtensionMethod) : undefined
  }

  /** Returns the function that completes a result. Returns undefined if the method does not allow the result type. */
  completion(method: string, resultType: unknown): CompleteResult | undefined {
    return this.#members.get(`result type ${resultType} of ${method}`)?.value as CompleteResult | undefined
  }

  /** Returns the id of the extension that has a member of the filter of `subscriptions/listen`. */
  subscriptionOwner(name: string): string | undefined {
    return this.#members.get(`subscription ${name}`)?.extension.id
  }

  /** Sends a request. The parameters and the result of a method of an extension are checked. */
  async send(
    connection: EraConnection,
    method: string,
    params: JsonObject,
    options: RequestCallOptions,
  ): Promise<JsonObject> {
    const own = this.method(connection.era, method)
    if (own === undefined) return connection.request(method, params, options)
    const { problem } = await checkWith(own.params, params, 'params')
    if (problem !== undefined) throw new TypeError(`${method}: ${problem}`)
    const result = await connection.request(method, params, options)
    if ((result.resultType ?? 'complete') !== 'complete') return result
    const checked = await checkWith(own.result, result, 'result')
    if (checked.problem !== undefined) throw invalidResult(method, checked.problem)
    return checked.value as JsonObject
  }

  /** Passes a notification to its listeners. Returns false if the notification does not belong to an extension. */
  handle({ method, params = {} }: NotificationMessage): boolean {
    const schema = this.#members.get(`notification ${method}`)?.value
    if (schema === undefined) return false
    this.#notify(schema as CheckingSchema, method, params).catch((cause: unknown) => {
      this.#onWarning(new Error(`${method} was ignored: the schema of its extension threw an error`, { cause }))
    })
    return true
  }

  async #notify(schema: CheckingSchema, method: string, params: unknown): Promise<void> {
    const listeners = [...(this.#listeners.get(method) ?? [])]
    const { value, problem } = await checkWith(listeners.length > 0 ? schema : undefined, params, 'params')
    for (const listener of listeners) if (problem === undefined) listener(value)
    if (problem !== undefined)
      this.#onWarning(new ConnectionError('invalid-message', `${method} was ignored. ${problem}`))
  }

  /** Calls a function with the parameters of each notification of a method. Returns a function that removes it. */
  readonly on = (method: string, callback: (params: unknown) => void): (() => void) => {
    const listeners = this.#listeners.get(method) ?? new Set()
    this.#listeners.set(method, listeners)
    const added = guarded(callback, this.#onWarning)
    listeners.add(added)
    return () => void listeners.delete(added)
  }

  /** Creates the part of a client that belongs to one extension. Throws if the client does not have the extension. */
  createClient<Extension extends ClientExtension>(
    extension: Extension,
    { settingsOf, request, listen }: ExtensionHost,
  ): ExtensionClient<Extension> {
    const { id } = extension
    if (!this.#all.includes(extension)) {
      throw new TypeError(`extension: the client does not have ${quoted(`${id}`)}; pass it to connect in "extensions"`)
    }
    const check = (kind: Kind, name: string) => {
      if (this.#members.get(`${kind} ${name}`)?.extension === extension) return
      throw new TypeError(`The extension ${id} has no ${kind} ${quoted(name)}`)
    }
    const client = {
      get settings() {
        return settingsOf(id)
      },
      request: async (method: string, params: JsonObject = {}, options?: RequestCallOptions) => {
        check('method', method)
        if (settingsOf(id) !== undefined) return request(method, params, options)
        throw new ConnectionError('unsupported', `${method} was not sent: the server does not declare ${id}`)
      },
      on: (method: string, callback: (params: unknown) => void) => {
        check('notification', method)
        return this.on(method, callback)
      },
      listen: (filter: JsonObject, options?: ListenOptions) => {
        for (const name of Object.keys(filter)) check('subscription', name)
        return listen(filter, options)
      },
    }
    // The types follow from the schemas of the extension.
    return client as ExtensionClient<ClientExtension> as ExtensionClient<Extension>
  }
}

/** The functions of a client that its extensions use. */
export interface ExtensionHost extends Pick<ExtensionCall, 'request' | 'listen'> {
  /** Returns the settings that the server declares for an extension. */
  settingsOf(id: string): JsonObject | undefined
}

function existsIn({ eras }: ClientExtension, era: Era): boolean {
  return eras === undefined || eras.includes(era)
}

function isOfProtocol(kind: Kind, name: string, extension: ClientExtension): boolean {
  if (kind === 'subscription') return Object.hasOwn(SubscriptionFilter.shape, name)
  if (kind === 'result type') return /^(complete|input_required) of /.test(name)
  const method = kind === 'method' ? 'request' : kind
  return REVISIONS.some((each) => existsIn(extension, eraOf(each)) && methodEntry(each, name, method) !== undefined)
}

/** Checks a value with a schema of any library. Resolves to the converted value, or to a sentence about the problems. */
async function checkWith(
  schema: CheckingSchema | undefined,
  value: unknown,
  root: string,
): Promise<{ readonly value?: unknown; readonly problem?: string | undefined }> {
  const result = schema === undefined ? { value } : await schema['~standard'].validate(value)
  if (result.issues === undefined) return result
  // Do not use the messages of zod, which depend on its locale, or of zod/mini, which contain no details.
  if ('_zod' in (schema as object)) return { problem: problemOf(schema as Schema, value, root) }
  const problems = result.issues.slice(0, 3).map(({ path = [], message }) => {
    const keys = path.map((key) => (typeof key === 'object' ? key.key : key))
    return `${placeOf(keys, root)}: ${message}`
  })
  return { problem: problems.join('; ') }
}
