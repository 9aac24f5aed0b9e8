/**
 * Reads and writes the `_meta` members of the protocol: the envelope of modern requests, the server info of results,
 * subscription ids, and progress tokens.
 */

import { isObject, kindOf, placeOf } from './json.ts'
import { MAX_NAME_LENGTH } from './limits.ts'
import { isRequestId, type JsonObject, type NotificationMessage, type RequestId } from './messages.ts'
import { isRevision } from './methods.ts'
import { LOGGING_LEVELS, type LoggingLevel } from './schemas/server-features.ts'
import { ClientCapabilities, Implementation } from './schemas/shared.ts'
import { problemOf } from './validate.ts'

/** The `_meta` name of the revision of a request. */
export const PROTOCOL_VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
export const CLIENT_CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
export const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo'
/** The `_meta` name of the lowest level of log messages that the client requests. */
export const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel'
/** The `_meta` name of the server that created a result. */
export const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo'
/** The `_meta` name of the subscription that a notification belongs to. */
export const SUBSCRIPTION_ID_KEY = 'io.modelcontextprotocol/subscriptionId'

/** The members in the `_meta` of a modern request that describe the request and its sender. */
export interface Envelope {
  /** The revision, as sent. It may be unknown. */
  protocolVersion: string
  /** The capabilities that the client declares for this request. */
  clientCapabilities: ClientCapabilities
  /** The name and version of the client, for display only. Default: unknown. */
  clientInfo?: Implementation | undefined
  /** The lowest level of log messages that the client requests. Default: none are requested. */
  logLevel?: LoggingLevel | undefined
}

/**
 * Returns whether a message has a protocol version in its `_meta`. It then belongs to the modern era, even if the
 * version is invalid.
 */
export function claimsModern(message: unknown): boolean {
  const meta = isObject(message) ? metaOf(message.params) : undefined
  return isObject(meta) && meta[PROTOCOL_VERSION_KEY] !== undefined
}

/**
 * Reads the envelope in the parameters of a request. Returns a sentence about the first problem if it is invalid. If the
 * revision is unknown, reads only the required members, because others may differ in that revision.
 */
export function readEnvelope(params: unknown): Envelope | string {
  const meta = metaOf(params) ?? {}
  if (!isObject(meta)) return `params._meta: expected object, got ${kindOf(meta)}`
  const protocolVersion = meta[PROTOCOL_VERSION_KEY]
  if (typeof protocolVersion !== 'string') return unexpectedMeta(PROTOCOL_VERSION_KEY, 'string', protocolVersion)
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
      return unexpectedMeta(LOG_LEVEL_KEY, `one of ${LOGGING_LEVELS.join(', ')}`, logLevel)
    }
    envelope.logLevel = logLevel as LoggingLevel
  }
  return envelope
}

/** Adds an envelope to parameters. Other metadata is kept. */
export function withEnvelope(params: object | undefined, envelope: Envelope): JsonObject {
  const meta: JsonObject = {
    [PROTOCOL_VERSION_KEY]: envelope.protocolVersion,
    [CLIENT_CAPABILITIES_KEY]: envelope.clientCapabilities,
  }
  if (envelope.clientInfo !== undefined) meta[CLIENT_INFO_KEY] = envelope.clientInfo
  if (envelope.logLevel !== undefined) meta[LOG_LEVEL_KEY] = envelope.logLevel
  return withMeta(params, meta)
}

/** Adds the server info to the metadata of a result. */
export function withServerInfo(result: object, serverInfo: Implementation): JsonObject {
  return withMeta(result, { [SERVER_INFO_KEY]: serverInfo })
}

/** Returns the server info of a result, or undefined if it is missing or invalid. */
export function serverInfoOf(result: unknown): Implementation | undefined {
  const info = metaMember(result, SERVER_INFO_KEY)
  return info !== undefined && implementationProblem(info, SERVER_INFO_KEY) === undefined
    ? (info as Implementation)
    : undefined
}

/** Adds the id of a subscription, which is the id of its request, to the parameters of a notification or to a result. */
export function withSubscriptionId(paramsOrResult: object | undefined, id: RequestId): JsonObject {
  return withMeta(paramsOrResult, { [SUBSCRIPTION_ID_KEY]: id })
}

/** Returns the subscription id of a notification or a result. `0` and `''` are valid ids. */
export function subscriptionIdOf(paramsOrResult: unknown): RequestId | undefined {
  const id = metaMember(paramsOrResult, SUBSCRIPTION_ID_KEY)
  return isRequestId(id) ? id : undefined
}

/** Adds a progress token to parameters, which requests progress notifications. The token is the id of the request. */
export function withProgressToken(params: object | undefined, token: RequestId): JsonObject {
  return withMeta(params, { progressToken: token })
}

/** Returns the id of the request that a notification names in its parameters, or undefined. */
export function relatedRequest({ method, params }: NotificationMessage): RequestId | undefined {
  if (method !== 'notifications/progress') return subscriptionIdOf(params)
  const token = params?.progressToken
  return isRequestId(token) ? token : undefined
}

function withMeta(holder: object | undefined, added: JsonObject): JsonObject {
  const meta = metaOf(holder)
  return { ...holder, _meta: isObject(meta) ? { ...meta, ...added } : added }
}

function metaOf(holder: unknown): unknown {
  return isObject(holder) ? holder._meta : undefined
}

function metaMember(holder: unknown, key: string): unknown {
  const meta = metaOf(holder)
  return isObject(meta) ? meta[key] : undefined
}

/**
 * Checks capabilities. If all members are objects, they are valid; otherwise the schema is used, which is slower.
 */
function capabilitiesProblem(value: unknown): string | undefined {
  if (isObject(value) && everyMember(value, (member) => isObject(member) && everyMember(member, isObject))) {
    return undefined
  }
  return problemOf(ClientCapabilities, value, placeOf([CLIENT_CAPABILITIES_KEY], 'params._meta'))
}

/** Checks an implementation. If all members are short strings, it is valid; otherwise the schema is used. */
function implementationProblem(value: unknown, key: string): string | undefined {
  const isShort = (member: unknown) => typeof member === 'string' && member.length <= MAX_NAME_LENGTH
  const isPlain = isObject(value) && !('icons' in value) && everyMember(value, isShort)
  if (isPlain && 'name' in value && 'version' in value) return undefined
  return problemOf(Implementation, value, placeOf([key], 'params._meta'))
}

function everyMember(value: JsonObject, isValid: (member: unknown) => boolean): boolean {
  for (const key in value) if (!isValid(value[key])) return false
  return true
}

function unexpectedMeta(key: string, expected: string, value: unknown): string {
  return `${placeOf([key], 'params._meta')}: expected ${expected}, got ${kindOf(value)}`
}

// The grammar of `_meta` names and extension ids: `com.example.tools/origin`, or a bare `origin`

const LABEL = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
const GRAMMAR = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`)
const RESERVED = /^[^./]+\.(?:modelcontextprotocol|mcp)[./]/

/** Returns whether a string is a valid `_meta` name. */
export function isMetaKey(key: string): boolean {
  return key !== '' && GRAMMAR.test(key)
}

/** Returns whether a name is reserved for the protocol: its second label is `modelcontextprotocol` or `mcp`. */
export function isReservedMetaKey(key: string): boolean {
  return RESERVED.test(key)
}

/** Returns whether a string is a valid extension id: a `_meta` name with a prefix. */
export function isExtensionId(id: string): boolean {
  return isMetaKey(id) && id.includes('/') && !id.endsWith('/')
}
