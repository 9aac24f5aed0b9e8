/** Encodes requests of both eras as bytes, and decodes responses. */
import { LATEST_LEGACY_REVISION, LATEST_MODERN_REVISION } from '@mcpx/protocol'
import type { Reply } from './connection.ts'

export type Era = 'legacy' | 'modern'

/** The protocol of a server. */
export interface Manner {
  readonly era: Era
  /** Whether the server creates sessions. */
  readonly hasSession?: boolean | undefined
  /** The `accept` header. Default: JSON and server-sent events. */
  readonly accept?: string | undefined
  /** The revision. Default: the latest revision of the era. */
  readonly revision?: string | undefined
}

export interface Target extends Manner {
  readonly port: number
  readonly session?: string | undefined
}

const clientInfo = { name: 'bench-client', version: '1.0.0' }

const envelope = {
  'io.modelcontextprotocol/protocolVersion': LATEST_MODERN_REVISION,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
}

interface Params extends Record<string, unknown> {
  readonly _meta?: object | undefined
}

/** Encodes a request, or a notification if there is no id. */
export function messageText(era: Era, method: string, params: Params, id?: number): string {
  const sent = era === 'legacy' ? params : { ...params, _meta: { ...envelope, ...params._meta } }
  return JSON.stringify({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, params: sent })
}

export function initializeParams(revision: string | undefined): Params {
  return { protocolVersion: revision ?? LATEST_LEGACY_REVISION, capabilities: {}, clientInfo }
}

/** The head of a request, up to the blank line. */
function headOf(verb: string, target: Target, extra: Readonly<Record<string, string | undefined>>): string {
  const lines = Object.entries({ host: `127.0.0.1:${target.port}`, ...extra }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  )
  return [`${verb} /mcp HTTP/1.1`, ...lines, '', ''].join('\r\n')
}

function eraHeaders(
  { era, revision, session }: Target,
  method: string,
  name: unknown,
): Record<string, string | undefined> {
  if (era === 'modern') {
    const named = typeof name === 'string' ? name : undefined
    return { 'mcp-protocol-version': LATEST_MODERN_REVISION, 'mcp-method': method, 'mcp-name': named }
  }
  if (method === 'initialize') return {}
  return { 'mcp-protocol-version': revision ?? LATEST_LEGACY_REVISION, 'mcp-session-id': session }
}

/** The headers of a POST, without connection headers. */
export function requestHeaders(target: Target, method: string, name: unknown): Record<string, string> {
  const all = {
    'content-type': 'application/json',
    accept: target.accept ?? 'application/json, text/event-stream',
    ...eraHeaders(target, method, name),
  }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** The bytes of a POST. */
export function post(target: Target, method: string, params: Params = {}, id?: number): string {
  const body = messageText(target.era, method, params, id)
  const headers = { ...requestHeaders(target, method, params.name), 'content-length': String(body.length) }
  return headOf('POST', target, headers) + body
}

/** The bytes of a GET for the stream of a session. */
export function getStream(target: Target): string {
  return headOf('GET', target, { accept: 'text/event-stream', ...eraHeaders(target, 'GET', undefined) })
}

/** Ids have a fixed length, so that a request is a concatenation of three strings. */
export const FIRST_ID = 1_000_000

/** The bytes of a call before and after its id. The id has the length of `FIRST_ID`. */
export function callInHalves(
  target: Target,
  name: string,
  args: object,
  meta?: object,
): readonly [before: string, after: string] {
  const whole = post(target, 'tools/call', { name, arguments: args, ...(meta && { _meta: meta }) }, FIRST_ID)
  return halves(whole)
}

export function halves(whole: string): readonly [before: string, after: string] {
  const [before = '', after = ''] = whole.split(`"id":${FIRST_ID}`)
  return [`${before}"id":`, after]
}

export interface Answered {
  readonly id?: number
  readonly method?: string
  readonly result?: {
    readonly content?: readonly { readonly text?: string }[]
    readonly tools?: readonly object[]
    readonly protocolVersion?: string
  }
}

/** Decodes the messages of a response, as JSON or SSE. Throws for an error status. */
export function messagesIn({ status, headers, body }: Reply): readonly Answered[] {
  const text = body?.toString() ?? ''
  if (status < 200 || status > 299) throw new Error(`HTTP ${status}: ${text.slice(0, 300)}`)
  if (text === '') return []
  if (!isEvents(headers)) return [JSON.parse(text) as Answered]
  return text
    .split('\n\n')
    .map((event) => /^data: ?(.+)$/m.exec(event)?.[1])
    .filter((data) => data !== undefined)
    .map((data) => JSON.parse(data) as Answered)
}

export function isEvents(headers: string): boolean {
  return /\r\ncontent-type: text\/event-stream/i.test(headers)
}

/** Returns the text of a tool result. */
export function textOf(message: Answered | undefined): string | undefined {
  return message?.result?.content?.[0]?.text
}
