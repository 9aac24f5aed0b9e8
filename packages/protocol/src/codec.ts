/** Reads and writes messages. A text that is refused is returned as a `Refusal`, never thrown. */

import { internalError, parseError } from './errors.ts'
import { CODEC_LIMITS, type CodecLimits, type ValueLimits } from './limits.ts'
import { checkMessage, type Message, Refusal, refuse } from './messages.ts'

/** The contents of one text: a message, an array of them (2025-03-26 only; the receiver decides), or a refusal. */
export type Decoded = Message | Refusal | (Message | Refusal)[]

/** Reads one text. Never throws. A refusal names the problem and its place, and never repeats a value. */
export function decode(text: string, limits: Readonly<CodecLimits> = CODEC_LIMITS): Decoded {
  if (text.length > limits.maxLength) return refuse(text, `longer than ${limits.maxLength} characters`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    return new Refusal(parseError(`Parse error: not valid JSON${positionOf(cause, text)}`))
  }
  if (mayExceedLimits(text, limits)) {
    const problem = enforceLimits(value, limits)
    if (problem !== undefined) return refuse(value, problem)
  }
  return Array.isArray(value) ? checkBatch(value, limits) : checkMessage(value)
}

/** Writes one message as one line of JSON. Throws an `RpcError` for a value that JSON cannot hold. */
export function encode(message: Message): string {
  try {
    const text = JSON.stringify(message)
    if ('result' in message && !text.includes('"result":')) throw new TypeError('The result has no JSON')
    return text
  } catch (cause) {
    const part = 'method' in message ? `the parameters of ${message.method}` : 'the answer'
    throw internalError(`Internal error: ${part} cannot be written as JSON`, { cause })
  }
}

/**
 * Whether a value has to be walked. A short text without a suspicious member name cannot exceed a limit: a level takes at
 * least two characters, or five (`{"":}`) where the text has no array.
 */
function mayExceedLimits(text: string, { maxDepth, maxValues }: ValueLimits): boolean {
  const perLevel = text.includes('[') ? 2 : 5
  const isShort = text.length <= perLevel * maxDepth && text.length <= maxValues
  return !isShort || text.includes('__proto__') || text.includes('\\u')
}

/**
 * Walks a value once and returns the first limit that it exceeds, if any. Members named `__proto__` are removed: as parsed
 * they are harmless, but user code that copies them with `Object.assign` would replace a prototype.
 */
function enforceLimits(value: unknown, limits: ValueLimits): string | undefined {
  let left = limits.maxValues
  function walk(node: object, depth: number): string | undefined {
    if (depth > limits.maxDepth) return `nested deeper than ${limits.maxDepth} levels`
    if (Array.isArray(node)) {
      left -= node.length
      if (left < 0) return `more than ${limits.maxValues} values`
      for (const item of node) {
        const problem = typeof item === 'object' && item !== null ? walk(item, depth + 1) : undefined
        if (problem !== undefined) return problem
      }
      return undefined
    }
    const members = node as Record<string, unknown>
    // A parsed object inherits no members.
    for (const key in members) {
      left -= 1
      if (left < 0) return `more than ${limits.maxValues} values`
      if (key === '__proto__') {
        delete members[key]
        continue
      }
      const member = members[key]
      const problem = typeof member === 'object' && member !== null ? walk(member, depth + 1) : undefined
      if (problem !== undefined) return problem
    }
    return undefined
  }
  return typeof value === 'object' && value !== null ? walk(value, 1) : undefined
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

/** Engines differ in whether they name the position. The part of the text that they quote is left out. */
function positionOf(cause: unknown, text: string): string {
  const message = cause instanceof Error ? cause.message : ''
  const position = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  if (position !== undefined) return ` at position ${position}`
  return /end of|unterminated/i.test(message) ? `, it ends too early (after ${text.length} characters)` : ''
}
