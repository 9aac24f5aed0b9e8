/** Text to messages and back. A text is parsed once; a refused one comes back as a `Refusal`, never as a throw. */

import { checkMessage, isObject, isRequestId, refuse } from './check.ts'
import { internalError, parseError } from './errors.ts'
import type { JsonObject, Message, ResultMessage } from './message.ts'
import { Refusal } from './refusal.ts'
import { tame, type ValueLimits } from './tame.ts'

export interface CodecLimits extends ValueLimits {
  /** How long a text may be, in UTF-16 code units. A carrier that counts bytes does so while it reads. */
  maxLength: number
  /** How many messages an array may hold. */
  maxBatch: number
}

/** Defaults: 32 Mi characters, 128 levels, 1,000,000 values, 100 messages in an array. */
export const CODEC_LIMITS: Readonly<CodecLimits> = {
  maxLength: 32 * 1024 * 1024,
  maxDepth: 128,
  maxValues: 1_000_000,
  maxBatch: 100,
}

/** What one text holds: a message, an array of them (2025-03-26 only; the receiver decides), or a refusal. */
export type Decoded = Message | Refusal | (Message | Refusal)[]

/** Reads one text. Never throws; every refusal says what was wrong and where, and never repeats a value. */
export function decode(text: string, limits: Readonly<CodecLimits> = CODEC_LIMITS): Decoded {
  if (text.length > limits.maxLength) return refuse(text, `longer than ${limits.maxLength} characters`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    return new Refusal(parseError(`Parse error: not valid JSON${positionOf(cause, text)}`))
  }
  if (needsTaming(text, limits)) {
    const problem = tame(value, limits)
    if (problem !== undefined) return refuse(value, problem)
  }
  if (Array.isArray(value)) return checkBatch(value, limits)
  const message = checkMessage(value)
  if ('method' in message && message.method === FREQUENT) message.method = FREQUENT
  return message
}

/**
 * What most requests are. A text that was just read is hashed wherever it is looked up in a table; this one is known to
 * all of them (60 ns of a call).
 */
const FREQUENT = 'tools/call'

/**
 * A short text without a suspicious member name can break no bound: it is not walked. A level takes two characters, or
 * five, `{"":}`, where it is an object that holds another; no level is an array where there is no bracket.
 */
function needsTaming(text: string, { maxDepth, maxValues }: ValueLimits): boolean {
  const perLevel = text.includes('[') ? 2 : 5
  const isShort = text.length <= perLevel * maxDepth && text.length <= maxValues
  return !isShort || text.includes('__proto__') || text.includes('\\u')
}

function checkBatch(items: unknown[], limits: CodecLimits): Refusal | (Message | Refusal)[] {
  if (items.length === 0) return refuse(items, 'an array of messages must not be empty')
  if (items.length > limits.maxBatch) return refuse(items, `an array of more than ${limits.maxBatch} messages`)
  return items.map((item) => {
    const message = checkMessage(item)
    const isHandshake = !(message instanceof Refusal) && 'method' in message && message.method === 'initialize'
    return isHandshake ? refuse(item, '"initialize" must not be part of an array') : message
  })
}

/** Engines name the position or not; what they quote of the text is left out. */
function positionOf(cause: unknown, text: string): string {
  const message = cause instanceof Error ? cause.message : ''
  const position = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  if (position !== undefined) return ` at position ${position}`
  return /end of|unterminated/i.test(message) ? `, it ends too early (after ${text.length} characters)` : ''
}

const TEXT: unique symbol = Symbol('mcpx.text')

/** The text is beside the object, so that a frozen one can have it. */
interface Kept {
  readonly [TEXT]: { text?: string | undefined }
}

/**
 * Marks a result that does not change, or the `_meta` of results that does not: its text is made once and reused each
 * time it is sent.
 */
export function keepText<T extends object>(value: T): T {
  if (!Object.isExtensible(value)) return value
  return Object.defineProperty(value, TEXT, { value: {} })
}

/** Whether an object is marked as one that does not change. */
export function isTextKept(value: object): boolean {
  return TEXT in value
}

/** Writes one message as one line of JSON. A value that JSON cannot hold is a thrown `RpcError` that says so. */
export function encode(message: Message): string {
  try {
    return 'result' in message ? encodeResult(message) : JSON.stringify(message)
  } catch (cause) {
    const what = 'method' in message ? `the parameters of ${message.method}` : 'the answer'
    throw internalError(`Internal error: ${what} cannot be written as JSON`, { cause })
  }
}

/**
 * The frame by hand takes a quarter less than to have it written too (measured). What is long is copied once more, whole, to
 * become one text with its frame: half as dear as to write it.
 */
function encodeResult(message: ResultMessage): string {
  const { id, result } = message
  if (Object.keys(message).length > 3 || !isRequestId(id)) return JSON.stringify(message)
  const isKept = isTextKept(result)
  if (!isKept && isLong(result)) return JSON.stringify(message)
  const text = isKept ? keptText(result) : resultText(result)
  if (text === undefined) throw new TypeError('no JSON')
  // A number that becomes a text by itself stays in a cache of the engine, where no two requests have the same.
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`
}

const LONG = 32 * 1024

/** Whether a text or the bytes of a block are: what is long otherwise is written right, too. */
function isLong({ content, toJSON }: JsonObject): boolean {
  const holdsMuch = (block: { text?: string; data?: string } | null) =>
    ((block?.text ?? block?.data)?.length as number) > LONG
  return Array.isArray(content) && !toJSON && content.some(holdsMuch)
}

/** What all results of a server say of it is put behind the rest as it was written for the first of them. */
function resultText(result: JsonObject): string | undefined {
  const { _meta } = result
  if (!isObject(_meta) || !isTextKept(_meta) || 'toJSON' in result) return JSON.stringify(result)
  const { content, resultType } = result
  // Most are like this, and need not be copied.
  if (Array.isArray(content) && resultType === 'complete' && Object.keys(result).length === 3) {
    const text = JSON.stringify(content)
    if (text !== undefined) return `{"content":${text},"resultType":"complete","_meta":${keptText(_meta)}}`
  }
  const others = JSON.stringify({ ...result, _meta: undefined })
  return `${others.slice(0, -1)}${others === '{}' ? '' : ','}"_meta":${keptText(_meta)}}`
}

function keptText(value: object): string | undefined {
  const kept = (value as Kept)[TEXT]
  kept.text ??= JSON.stringify(value)
  return kept.text
}
