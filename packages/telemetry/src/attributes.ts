/**
 * The names and attributes of spans and metrics, which follow the semantic conventions of OpenTelemetry for MCP. The
 * conventions are in development, so their names are written here and not imported.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md
 */

import {
  type ConnectionError,
  type EndedSession,
  ErrorCode,
  isObject,
  type JsonObject,
  looksSecret,
  type NetworkInfo,
  type ObservedMessage,
  type Outcome,
  type RedactOptions,
  type RefusedRequest,
  redact,
} from '@mcpx/protocol'
import type { Attributes } from '@opentelemetry/api'

/** The role of this process for one message, and the kind of its span. A client sends the message, a server handles it. */
export type Role = 'client' | 'server'

/** The longest string of a peer in a span, in characters. Longer strings are cut. */
const MAX_LENGTH = 1_024

/**
 * Returns a string of a peer for a span. Cuts no character in half, because collectors refuse a whole batch that
 * contains half a character.
 */
function clean(text: string): string {
  return text.slice(0, MAX_LENGTH).replace(/\p{Surrogate}/gu, '\ufffd')
}

/** The largest number of a prompt's arguments in attributes. */
const MAX_VARIABLES = 64

const RESOURCE_METHODS: readonly string[] = [
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'notifications/resources/updated',
]

function put(attributes: Attributes, name: string, value: unknown): void {
  if (typeof value === 'string') attributes[name] = clean(value)
}

function putPeer(attributes: Attributes, peer: Role, network: NetworkInfo | undefined): void {
  put(attributes, `${peer}.address`, network?.address)
  if (network?.port !== undefined) attributes[`${peer}.port`] = network.port
}

/** The tool, prompt or resource that a request names. */
export interface Item {
  readonly attribute: 'gen_ai.tool.name' | 'gen_ai.prompt.name' | 'mcp.resource.uri'
  readonly value: string
}

/** Returns the item that a request names. */
export function itemOf(method: string, params: JsonObject | undefined): Item | undefined {
  if (method === 'tools/call') return item('gen_ai.tool.name', params?.name)
  if (method === 'prompts/get') return item('gen_ai.prompt.name', params?.name)
  if (RESOURCE_METHODS.includes(method)) return item('mcp.resource.uri', params?.uri)
  if (method !== 'completion/complete' || !isObject(params?.ref) || params.ref.type !== 'ref/prompt') return undefined
  return item('gen_ai.prompt.name', params.ref.name)
}

function item(attribute: Item['attribute'], value: unknown): Item | undefined {
  return typeof value === 'string' ? { attribute, value: clean(value) } : undefined
}

/** Returns the name of a span: the method, and the tool or prompt. */
export function spanName(method: string, item: Item | undefined, withUri: boolean): string {
  const bounded = clean(method)
  const isNamed = item !== undefined && (withUri || item.attribute !== 'mcp.resource.uri')
  return isNamed ? `${bounded} ${item.value}` : bounded
}

/** Returns the attributes that the span and the metric of a message have in common. */
function commonAttributes({ side, method, revision, network }: ObservedMessage, role: Role): Attributes {
  const attributes: Attributes = {}
  put(attributes, 'mcp.method.name', method)
  if (method === 'tools/call') attributes['gen_ai.operation.name'] = 'execute_tool'
  put(attributes, 'mcp.protocol.version', revision)
  if (network === undefined) return attributes
  put(attributes, 'network.transport', network.transport)
  put(attributes, 'network.protocol.name', network.protocol)
  put(attributes, 'network.protocol.version', network.protocolVersion)
  if (side === 'client' && role === 'client') putPeer(attributes, 'server', network)
  return attributes
}

/** Returns the attributes of the span of a message at its start. */
export function spanAttributes(message: ObservedMessage, role: Role, item: Item | undefined): Attributes {
  const { side, id, sessionId, network } = message
  const attributes = commonAttributes(message, role)
  if (item !== undefined) attributes[item.attribute] = item.value
  if (id !== undefined) put(attributes, 'jsonrpc.request.id', String(id))
  put(attributes, 'mcp.session.id', sessionId)
  if (side === 'server' && role === 'server') putPeer(attributes, 'client', network)
  return attributes
}

/** How many names that have succeeded, how many names that have only failed, and how many error codes are in metrics. */
const MAX_NAMES = 1_000
const MAX_FAILED = 100

/**
 * Decides which values of peers are in metrics, because a peer may send any name and any error code, and each would
 * create a time series. A name that has succeeded is always measured, also after many others have failed.
 */
export class MeasuredValues {
  readonly #names = new Set<string>()
  readonly #failed = new Set<string>()
  readonly #codes = new Set<number>(Object.values(ErrorCode))
  readonly #mostCodes = this.#codes.size + MAX_FAILED

  /** Returns whether a name is measured. */
  addName(name: string, isFailure: boolean): boolean {
    if (this.#names.has(name)) return true
    return isFailure ? addWithin(this.#failed, name, MAX_FAILED) : addWithin(this.#names, name, MAX_NAMES)
  }

  /** Returns whether an error code is measured. The codes of the protocol always are. */
  addCode(code: number): boolean {
    return addWithin(this.#codes, code, this.#mostCodes)
  }
}

/** Adds a value unless the set is full. Returns whether the set contains the value. */
function addWithin<Value>(values: Set<Value>, value: Value, most: number): boolean {
  if (values.size < most) values.add(value)
  return values.has(value)
}

/**
 * Returns the attributes of the metric of a message. Names that a server does not know are omitted; error codes beyond
 * the limit are `_OTHER`.
 */
export function measuredAttributes(
  message: ObservedMessage,
  role: Role,
  item: Item | undefined,
  ending: Ending,
  withUri: boolean,
  values: MeasuredValues,
): Attributes {
  const attributes = Object.assign(commonAttributes(message, role), ending.attributes)
  const { code } = ending
  if (code === ErrorCode.MethodNotFound) attributes['mcp.method.name'] = '_OTHER'
  if (code !== undefined && !values.addCode(code)) {
    for (const name of ['rpc.response.status_code', 'error.type']) if (name in attributes) attributes[name] = '_OTHER'
  }
  const isMeasured = item !== undefined && (withUri || item.attribute !== 'mcp.resource.uri')
  if (!isMeasured || code === ErrorCode.InvalidParams) return attributes
  const isFailure = ending.attributes !== undefined
  if (values.addName(`${item.attribute} ${item.value}`, isFailure)) attributes[item.attribute] = item.value
  return attributes
}

/** Returns the attributes of the counter of refused requests. */
export function refusalAttributes({ status, network }: RefusedRequest): Attributes {
  const attributes: Attributes = { 'http.response.status_code': status }
  put(attributes, 'network.transport', network?.transport)
  return attributes
}

/** Returns the attributes of the metric of a session. */
export function sessionAttributes({ side, revision, network }: EndedSession): Attributes {
  const attributes: Attributes = {}
  put(attributes, 'mcp.protocol.version', revision)
  put(attributes, 'network.protocol.name', network?.protocol)
  if (side === 'client') putPeer(attributes, 'server', network)
  return attributes
}

// Arguments and results

/** Returns the arguments of a call or of a prompt. */
export function argumentAttributes({ method, params }: ObservedMessage, options: RedactOptions): Attributes {
  const given = params?.arguments
  if (!isObject(given)) return {}
  if (method === 'tools/call') return { 'gen_ai.tool.call.arguments': JSON.stringify(redact(given, options)) }
  if (method !== 'prompts/get') return {}
  const { isSecret = looksSecret } = options
  const attributes: Attributes = {}
  for (const [name, value] of Object.entries(given).slice(0, MAX_VARIABLES)) {
    const shown = isSecret(name) ? '[redacted]' : redact(value, options)
    put(attributes, `gen_ai.prompt.variable.${clean(name)}`, shown)
  }
  return attributes
}

/** Returns the result of a call. */
export function resultAttributes(method: string, result: JsonObject | undefined, options: RedactOptions): Attributes {
  if (method !== 'tools/call' || result === undefined) return {}
  const { _meta, ...shown } = result
  return { 'gen_ai.tool.call.result': JSON.stringify(redact(shown, options)) }
}

// Outcomes

/** Returns the revision that a handshake has negotiated. */
export function revisionAttributes({ result }: Outcome): Attributes {
  const attributes: Attributes = {}
  put(attributes, 'mcp.protocol.version', result?.protocolVersion)
  return attributes
}

/** The codes of errors that the client caused. */
const CALLER_FAULTS: readonly number[] = [
  ErrorCode.ParseError,
  ErrorCode.InvalidRequest,
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidParams,
  ErrorCode.ResourceNotFound,
]

/** The attributes and the status of the end of a message, for spans and metrics. */
export interface Ending {
  /** The attributes of an error. Undefined after success. */
  readonly attributes?: Attributes
  /** Whether the span has the status of an error. */
  readonly isError: boolean
  /** The description of the error. */
  readonly message?: string
  /** The code of a JSON-RPC error. */
  readonly code?: number
}

const SUCCESS: Ending = { isError: false }
const TOOL_ERROR: Ending = { attributes: { 'error.type': 'tool_error' }, isError: true }

/**
 * Describes how a message ended. If a server refuses a request because of a mistake of its caller, this is not an error
 * of the server.
 */
export function describeEnding({ result, error }: Outcome, role: Role): Ending {
  if (error === undefined) return result?.isError === true ? TOOL_ERROR : SUCCESS
  const message = clean(String(error.message))
  if ('code' in error && typeof error.code === 'number') {
    const { code } = error
    const isError = role === 'client' || !CALLER_FAULTS.includes(code)
    const attributes: Attributes = { 'rpc.response.status_code': String(code) }
    if (isError) attributes['error.type'] = String(code)
    return { attributes, isError, message, code }
  }
  const { reason, status, name } = error as Partial<ConnectionError>
  // If the response is not a JSON-RPC message, its HTTP status is used instead of a code.
  const type = reason === 'refused' && status !== undefined ? String(status) : (reason ?? name ?? 'Error')
  return { attributes: { 'error.type': type }, isError: reason !== 'cancelled', message }
}
