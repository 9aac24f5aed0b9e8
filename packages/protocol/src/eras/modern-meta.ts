/** The reserved `_meta` names of the modern wire: what a request, a result and a notification say of themselves. */

import { isObject, isRequestId, kindOf } from '../jsonrpc/check.ts'
import { keepText } from '../jsonrpc/codec.ts'
import { check, placeOf } from '../schema/check.ts'
import { ClientCapabilities, Implementation } from '../schema/lifecycle.ts'
import { LOGGING_LEVELS, type LoggingLevel } from '../schema/logging.ts'
import type { JsonObject, RequestId } from '../schema/primitives.ts'
import { isRevision } from '../versions.ts'

export const PROTOCOL_VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
export const CLIENT_CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
export const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo'
export const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel'
export const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo'
export const SUBSCRIPTION_ID_KEY = 'io.modelcontextprotocol/subscriptionId'

/** What a request says of itself and of who sent it. */
export interface Envelope {
  /** As sent: it need not be a revision that exists. */
  protocolVersion: string
  clientCapabilities: ClientCapabilities
  /** For people to read; nothing may depend on it. */
  clientInfo?: Implementation | undefined
  /** Log messages from this level on are wanted; absent means none are. */
  logLevel?: LoggingLevel | undefined
}

/** Whether a message says which modern revision it speaks, whatever it says. */
export function claimsModern(message: unknown): boolean {
  const meta = isObject(message) ? metaOf(message.params) : undefined
  return isObject(meta) && meta[PROTOCOL_VERSION_KEY] !== undefined
}

/**
 * Reads the envelope from the parameters of a request: a string is the first thing wrong with it, as a sentence.
 * Of a revision that does not exist only the required members are read, as the others may look different there.
 */
export function readEnvelope(params: unknown): Envelope | string {
  const meta = metaOf(params) ?? {}
  if (!isObject(meta)) return `params._meta: expected object, got ${kindOf(meta)}`
  const protocolVersion = meta[PROTOCOL_VERSION_KEY]
  if (typeof protocolVersion !== 'string') return wrong(PROTOCOL_VERSION_KEY, 'string', protocolVersion)
  const clientCapabilities = meta[CLIENT_CAPABILITIES_KEY]
  const problem = capabilitiesProblem(clientCapabilities)
  if (problem !== undefined) return problem
  const envelope: Envelope = { protocolVersion, clientCapabilities: clientCapabilities as ClientCapabilities }
  return isRevision(protocolVersion) ? readOptional(meta, envelope) : envelope
}

function readOptional(meta: JsonObject, envelope: Envelope): Envelope | string {
  const clientInfo = meta[CLIENT_INFO_KEY]
  if (clientInfo !== undefined) {
    const problem = implementationProblem(clientInfo, CLIENT_INFO_KEY)
    if (problem !== undefined) return problem
    envelope.clientInfo = clientInfo as Implementation
  }
  const logLevel = meta[LOG_LEVEL_KEY]
  if (logLevel !== undefined) {
    if (!LOGGING_LEVELS.includes(logLevel as LoggingLevel)) {
      return wrong(LOG_LEVEL_KEY, `one of ${LOGGING_LEVELS.join(', ')}`, logLevel)
    }
    envelope.logLevel = logLevel as LoggingLevel
  }
  return envelope
}

/** Parameters with an envelope; other metadata stays. */
export function withEnvelope(params: object | undefined, envelope: Envelope): JsonObject {
  const meta: JsonObject = {
    [PROTOCOL_VERSION_KEY]: envelope.protocolVersion,
    [CLIENT_CAPABILITIES_KEY]: envelope.clientCapabilities,
  }
  if (envelope.clientInfo !== undefined) meta[CLIENT_INFO_KEY] = envelope.clientInfo
  if (envelope.logLevel !== undefined) meta[LOG_LEVEL_KEY] = envelope.logLevel
  return withMeta(params, meta)
}

/** What results say that say nothing else of themselves: one object for all of a server, so that it is written once. */
const metaOfServers = new WeakMap<Implementation, JsonObject>()

/** A result that says which server gave it. */
export function withServerInfo(result: object, serverInfo: Implementation): JsonObject {
  let meta = metaOfServers.get(serverInfo)
  if (meta === undefined) {
    meta = Object.freeze(keepText<JsonObject>({ [SERVER_INFO_KEY]: serverInfo }))
    metaOfServers.set(serverInfo, meta)
  }
  return withMeta(result, meta)
}

/** The parameters of a notification, or the last result, of a subscription; `id` is the id of the request. */
export function withSubscriptionId(paramsOrResult: object | undefined, id: RequestId): JsonObject {
  return withMeta(paramsOrResult, { [SUBSCRIPTION_ID_KEY]: id })
}

/** Which server gave a result, if it says so in a readable way. */
export function serverInfoOf(result: unknown): Implementation | undefined {
  const info = memberOf(metaOf(result), SERVER_INFO_KEY)
  return info !== undefined && implementationProblem(info, SERVER_INFO_KEY) === undefined
    ? (info as Implementation)
    : undefined
}

/** The subscription that a notification or a result belongs to. `0` and `''` are ids. */
export function subscriptionIdOf(paramsOrResult: unknown): RequestId | undefined {
  const id = memberOf(metaOf(paramsOrResult), SUBSCRIPTION_ID_KEY)
  return isRequestId(id) ? id : undefined
}

function withMeta(holder: object | undefined, added: JsonObject): JsonObject {
  const meta = metaOf(holder)
  return { ...holder, _meta: isObject(meta) ? { ...meta, ...added } : added }
}

/** Looks by hand first: the schema is asked only what it is that a plain look does not like. */
function capabilitiesProblem(value: unknown): string | undefined {
  if (isObject(value) && membersFit(value, hasOnlyObjects)) return undefined
  return check(ClientCapabilities, value, placeOf([CLIENT_CAPABILITIES_KEY], 'params._meta')).problem
}

function implementationProblem(value: unknown, key: string): string | undefined {
  const isPlain = isObject(value) && !('icons' in value) && membersFit(value, isString)
  if (isPlain && 'name' in value && 'version' in value) return undefined
  return check(Implementation, value, placeOf([key], 'params._meta')).problem
}

function hasOnlyObjects(value: unknown): boolean {
  return isObject(value) && membersFit(value, isObject)
}

function membersFit(value: JsonObject, fits: (member: unknown) => boolean): boolean {
  for (const key in value) if (!fits(value[key])) return false
  return true
}

function wrong(key: string, expected: string, value: unknown): string {
  return `${placeOf([key], 'params._meta')}: expected ${expected}, got ${kindOf(value)}`
}

function metaOf(holder: unknown): unknown {
  return isObject(holder) ? holder._meta : undefined
}

function memberOf(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined
}

function isString(value: unknown): boolean {
  return typeof value === 'string'
}
