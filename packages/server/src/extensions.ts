/** The extensions of one server: checks them when the server is created, and finds their methods and other members. */

import {
  type CheckingSchema,
  type ClientCapabilities,
  type Context,
  type Era,
  ErrorCode,
  eraOf,
  type Handler,
  hasCapability,
  invalidParams,
  isExtensionId,
  isObject,
  isPromise,
  type JsonObject,
  kindOf,
  methodEntry,
  missingClientCapability,
  problemOf,
  quoted,
  type Revision,
  type RpcError,
  revisionsOf,
  type Schema,
  SubscriptionFilter,
} from '@mcpx/protocol'
import { RegistrationError, ResultError } from './errors.ts'
import type {
  ExtensionHost,
  ExtensionMembers,
  ExtensionMethod,
  ExtensionSubscription,
  ExtensionToolOption,
  ServerExtension,
} from './extension.ts'
import type { Middleware, ServerRequest } from './middleware.ts'
import { checkOptionNames } from './registration.ts'
import { createStandardCheck } from './schema-check.ts'
import { describeIssues } from './schemas.ts'
import { TOOL_OPTION_NAMES } from './tools.ts'

/** The members of an extension, with the kind of value of each. */
const MEMBER_KINDS = {
  methods: 'object',
  resultTypes: 'object',
  subscriptions: 'object',
  notifications: 'array',
  errorCodes: 'array',
  middleware: 'function',
  toolOptions: 'object',
  handler: 'object',
} as const satisfies Readonly<Record<keyof ExtensionMembers, string>>
const MEMBER_NAMES = Object.keys(MEMBER_KINDS)
const EXTENSION_NAMES: readonly string[] = ['id', 'settings', 'eras', 'install', ...MEMBER_NAMES]
const ERAS: readonly Era[] = ['legacy', 'modern']

/** A member of an extension, with the extension that it belongs to. */
export type Owned<Member> = Member & { readonly extension: string; readonly eras: readonly Era[] }

/** Installs extensions. Throws a `RegistrationError` for an invalid extension, and if two extensions have the same member. */
export function installExtensions(
  extensions: readonly ServerExtension[] | undefined,
  host: ExtensionHost,
): Extensions | undefined {
  if (extensions === undefined) return undefined
  if (!Array.isArray(extensions)) throw invalid(`expected an array, got ${kindOf(extensions)}`)
  return extensions.length === 0 ? undefined : new Extensions(extensions, host)
}

/** The members of all extensions of a server. */
export class Extensions {
  readonly subscriptions = new Map<string, Owned<ExtensionSubscription>>()
  readonly toolOptions = new Map<string, ExtensionToolOption>()
  readonly notifications = new Map<string, string>()
  readonly middlewares: Middleware[] = []
  readonly parts: Handler[] = []
  readonly #methods = new Map<string, Owned<ExtensionMethod>>()
  readonly #resultTypes = new Map<string, readonly string[]>()
  readonly #errorCodes = new Set<number>()
  readonly #settings = new Map<string, { readonly eras: readonly Era[]; readonly settings: JsonObject | false }>()
  /** The owner of each member, for errors. */
  readonly #owners = new Map<string, string>()

  constructor(extensions: readonly ServerExtension[], host: ExtensionHost) {
    for (const extension of extensions) {
      checkExtension(extension)
      const { id, eras = ERAS, settings = {} } = extension
      if (this.#settings.has(id)) throw invalid(`two of them have the id ${quoted(id)}; pass it once`)
      this.#settings.set(id, { eras, settings })
      this.#add(extension, id, eras)
      const installed = extension.install?.(host)
      if (installed === undefined) continue
      if (isPromise(installed)) {
        throw new RegistrationError(`${placeOf(id)}, install: expected members, got a promise; remove \`async\``)
      }
      checkOptionNames(`${placeOf(id)}, install`, installed, MEMBER_NAMES)
      this.#add(installed, id, eras)
    }
  }

  /** Returns the declaration of all extensions of an era, for `capabilities.extensions`. */
  settingsIn(era: Era): Record<string, JsonObject> {
    const declared: Record<string, JsonObject> = {}
    for (const [id, { eras, settings }] of this.#settings) {
      if (settings !== false && eras.includes(era)) declared[id] = settings
    }
    return declared
  }

  /** Returns a method if the revision has it. */
  find(method: string, revision: Revision): Owned<ExtensionMethod> | undefined {
    const found = this.#methods.get(method)
    return found?.eras.includes(eraOf(revision)) && hasCapability(revision, 'server', 'extensions') ? found : undefined
  }

  /**
   * Returns whether the server ignores the declaration of a client, because the extension does not exist in this era.
   */
  ignores(id: string, era: Era): boolean {
    return this.#settings.get(id)?.eras.includes(era) === false
  }

  /** Calls a method. Returns undefined if no extension has it. */
  call({ method, params }: ServerRequest, ctx: Context): Promise<object> | undefined {
    const found = this.#methods.get(method)
    return found && runMethod(method, found, params, ctx)
  }

  allowsResult(type: unknown, method: string): boolean {
    return this.#resultTypes.get(type as string)?.includes(method) === true
  }

  allowsError(code: number): boolean {
    return this.#errorCodes.has(code)
  }

  #add(members: ExtensionMembers, id: string, eras: readonly Era[]): void {
    for (const [name, kind] of Object.entries(MEMBER_KINDS)) {
      expectKind(`${placeOf(id)}, ${name}`, kind, members[name as keyof ExtensionMembers])
    }
    const { methods = {}, resultTypes = {}, subscriptions = {}, notifications = [], errorCodes = [] } = members
    const { middleware, toolOptions = {}, handler } = members
    const claim = (kind: string, name: string | number, isReserved: boolean) => {
      const member = `${kind} ${quoted(String(name))}`
      const owner = this.#owners.get(member)
      if (owner !== undefined)
        throw invalid(`${quoted(id)} and ${quoted(owner)} both have ${member}; remove one of them`)
      if (isReserved) throw invalid(`${quoted(id)} has ${member}, which belongs to the protocol; choose another name`)
      this.#owners.set(member, id)
    }
    for (const [name, method] of Object.entries(methods)) {
      claim('the method', name, isOfProtocol(name, 'request', eras))
      const place = `${placeOf(id)}, methods, ${quoted(name)}`
      checkOptionNames(place, method, ['params', 'result', 'requiresDeclaration', 'cacheable', 'mayAsk', 'run'])
      expectSchema(`${place}, params`, method.params)
      expectSchema(`${place}, result`, method.result)
      expectKind(`${place}, run`, 'function', method.run ?? null)
      this.#methods.set(name, { ...method, extension: id, eras })
    }
    for (const [type, names] of Object.entries(resultTypes)) {
      claim('the result type', type, type === 'complete' || type === 'input_required')
      expectKind(`${placeOf(id)}, resultTypes, ${quoted(type)}`, 'array', names)
      this.#resultTypes.set(type, names)
    }
    for (const [name, subscription] of Object.entries(subscriptions)) {
      claim('the subscription', name, Object.hasOwn(SubscriptionFilter.shape, name))
      const place = `${placeOf(id)}, subscriptions, ${quoted(name)}`
      checkOptionNames(place, subscription, ['value', 'requiresDeclaration', 'open'])
      expectSchema(`${place}, value`, subscription.value ?? null)
      expectKind(`${place}, open`, 'function', subscription.open ?? null)
      this.subscriptions.set(name, { ...subscription, extension: id, eras })
    }
    for (const code of errorCodes) {
      claim('the error code', code, Object.values<number>(ErrorCode).includes(code))
      if (!Number.isInteger(code))
        throw new RegistrationError(`${placeOf(id)}, errorCodes: expected integers, got ${code}`)
      this.#errorCodes.add(code)
    }
    for (const [name, option] of Object.entries(toolOptions)) {
      claim('the tool option', name, TOOL_OPTION_NAMES.includes(name))
      expectKind(`${placeOf(id)}, toolOptions, ${quoted(name)}`, 'object', option)
      this.toolOptions.set(name, option)
    }
    for (const name of notifications) {
      expectKind(`${placeOf(id)}, notifications`, 'string', name ?? null)
      claim('the notification', name, isOfProtocol(name, 'notification', eras))
      this.notifications.set(name, id)
    }
    if (middleware !== undefined) this.middlewares.push(middleware)
    if (handler !== undefined) this.parts.push(handler)
  }
}

/** Returns the error -32021 if a member needs a declaration that the client has not sent. */
export function missingDeclaration(
  { requiresDeclaration, extension }: Owned<{ readonly requiresDeclaration?: boolean | undefined }>,
  { extensions = {} }: ClientCapabilities,
): RpcError | undefined {
  if (requiresDeclaration !== true || Object.hasOwn(extensions, extension)) return undefined
  const message = `The client must declare the extension ${extension}`
  return missingClientCapability({ extensions: { [extension]: {} } }, message)
}

/** Checks a value that a client sent. Returns the converted value. Throws an `RpcError` that names the place. */
export async function checkValue(schema: CheckingSchema | undefined, value: unknown, place: string): Promise<unknown> {
  const { value: checked, problem } = await checkSchema(schema, value, place)
  if (problem !== undefined) throw invalidParams(problem)
  return checked
}

/** Returns the converted value, or a sentence about the problem with it. */
async function checkSchema(
  schema: CheckingSchema | undefined,
  value: unknown,
  place: string,
): Promise<{ readonly value?: unknown; readonly problem?: string }> {
  if (schema === undefined) return { value }
  const result = await createStandardCheck(schema as Parameters<typeof createStandardCheck>[0])(value)
  if (result.issues === undefined) return { value: result.value }
  // Schemas of zod/mini, such as the schemas of the protocol, contain no messages.
  const lacksMessages = '_zod' in schema && result.issues.some(({ message }) => message === 'Invalid input')
  const problem = lacksMessages ? problemOf(schema as unknown as Schema, value, place) : undefined
  return { problem: problem ?? describeIssues(result.issues, place) }
}

/** Runs a method, and checks its parameters and its result. */
async function runMethod(name: string, method: ExtensionMethod, params: JsonObject, ctx: Context): Promise<object> {
  const { _meta, ...others } = params
  if (method.mayAsk === true) {
    // Handlers read these from the context.
    delete others.inputResponses
    delete others.requestState
  }
  const returned = await method.run((await checkValue(method.params, others, 'params')) as never, ctx)
  // Results of other types, such as `input_required`, have other members.
  if (method.result === undefined || (returned as JsonObject | undefined)?.resultType !== undefined) return returned
  const { value, problem } = await checkSchema(method.result, returned, 'result')
  if (problem !== undefined) throw new ResultError(`${name}: ${problem}`)
  return { ...returned, ...(value as object) }
}

function checkExtension(extension: ServerExtension): void {
  if (!isObject(extension)) throw invalid(`expected objects with an id, got ${kindOf(extension)}`)
  const { id, eras = ERAS, settings = {}, install } = extension
  if (typeof id !== 'string' || !isExtensionId(id)) {
    const got = typeof id === 'string' ? quoted(id) : kindOf(id)
    throw invalid(`expected an id such as "com.example/greetings", got ${got}`)
  }
  const place = placeOf(id)
  checkOptionNames(place, extension, EXTENSION_NAMES)
  if (!Array.isArray(eras) || eras.length === 0 || !eras.every((era) => ERAS.includes(era))) {
    throw new RegistrationError(`${place}, eras: expected ["legacy"], ["modern"] or both, got ${JSON.stringify(eras)}`)
  }
  if (settings !== false) expectKind(`${place}, settings`, 'object', settings)
  expectKind(`${place}, install`, 'function', install)
}

/** Throws a `RegistrationError` if a value does not have this kind. Undefined is accepted. */
function expectKind(place: string, kind: string, value: unknown): void {
  if (value === undefined || kindOf(value) === kind) return
  throw new RegistrationError(`${place}: expected ${/^[aeo]/.test(kind) ? 'an' : 'a'} ${kind}, got ${kindOf(value)}`)
}

/** Throws a `RegistrationError` for a value that is not a Standard Schema. Undefined is accepted. */
function expectSchema(place: string, value: unknown): void {
  if (value === undefined || (isObject(value) && '~standard' in value) || typeof value === 'function') return
  throw new RegistrationError(`${place}: expected a schema of zod or another library, got ${kindOf(value)}`)
}

function isOfProtocol(name: string, kind: 'request' | 'notification', eras: readonly Era[]): boolean {
  return eras.some((era) => revisionsOf(era).some((each) => methodEntry(each, name, kind) !== undefined))
}

function placeOf(id: string): string {
  return `createServer, extensions, ${quoted(id)}`
}

function invalid(problem: string): RegistrationError {
  return new RegistrationError(`createServer, extensions: ${problem}`)
}
