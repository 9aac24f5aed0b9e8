/** Parses and serializes messages. For an invalid string, `decode` returns a `Refusal` and does not throw. */

import { internalError, parseError } from './errors.ts'
import { placeOf } from './json.ts'
import { CODEC_LIMITS, type CodecLimits, estimateBytes } from './limits.ts'
import { checkMessage, type Message, Refusal, refuse } from './messages.ts'

/** A parsed string: a message, a batch (valid only in 2025-03-26, which the receiver checks), or a refusal. */
export type Decoded = Message | Refusal | (Message | Refusal)[]

/**
 * Parses one string. Never throws. A refusal names the problem and its place. It never contains a value of the message.
 */
export function decode(text: string, limits: Readonly<CodecLimits> = CODEC_LIMITS): Decoded {
  if (text.length > limits.maxLength) return refuse(text, `longer than ${limits.maxLength} characters`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    return new Refusal(parseError(`Parse error: not valid JSON${positionOf(cause, text)}`))
  }
  const walk: Walk = { limits, left: limits.maxValues, path: [] }
  const problem = enforceLimits(value, walk)
  if (problem !== undefined) return refuse(value, problem)
  const isLarge = text.length > SMALL
  if (Array.isArray(value)) return checkBatch(value, limits, isLarge)
  const message = checkMessage(value)
  if (isLarge) sizes.set(message, text.length + (limits.maxValues - walk.left) * VALUE_COST)
  return message
}

/** JSON of at most this length counts as 0 bytes. The limit of messages already bounds the memory of short messages. */
const SMALL = 1_024
/** The memory that a value takes in addition to its characters, in bytes. */
const VALUE_COST = 64

/** The estimated memory of large messages, in bytes. */
const sizes = new WeakMap<object, number>()

/** Returns the estimated memory of a decoded message, in bytes. Small messages count as 0. */
export function sizeOf(message: Message): number {
  return sizes.get(message) ?? 0
}

/** Serializes a message as one line of JSON. Throws an `RpcError` for a value that cannot be written as JSON. */
export function encode(message: Message): string {
  try {
    const text = JSON.stringify(message)
    if ('result' in message && !text.includes('"result":')) throw new TypeError('The result has no JSON')
    return text
  } catch (cause) {
    const part = 'method' in message ? `the parameters of ${message.method}` : 'the response'
    throw internalError(`Internal error: ${part} cannot be written as JSON`, { cause })
  }
}

/**
 * Describes the first value that exceeds a limit, or the first number that is not finite. Returns undefined if all values
 * are valid. Also removes members named `__proto__`, because user code that copies them with `Object.assign` would replace
 * a prototype.
 */
function enforceLimits(value: unknown, walk: Walk): string | undefined {
  const problem = problemIn(value, 0, walk)
  return problem === NOT_FINITE ? `${placeOf(walk.path, '')}: ${NOT_FINITE}` : problem
}

interface Walk {
  readonly limits: CodecLimits
  /** The number of values that may still follow. */
  left: number
  /** The path from the root to the value with the problem. */
  readonly path: PropertyKey[]
}

/** The problem of numbers such as `1e999`, which JavaScript parses as Infinity and would write as null. */
const NOT_FINITE = 'expected a number within ±1.8e308, got a larger one'

function problemIn(value: unknown, depth: number, walk: Walk): string | undefined {
  // Depth 1 may be the id, for which `idProblem` has a more precise error.
  if (typeof value === 'number') return Number.isFinite(value) || depth === 1 ? undefined : NOT_FINITE
  if (typeof value !== 'object' || value === null) return undefined
  if (depth >= walk.limits.maxDepth) return `nested deeper than ${walk.limits.maxDepth} levels`
  return Array.isArray(value) ? itemProblem(value, depth, walk) : memberProblem(value, depth, walk)
}

function itemProblem(items: unknown[], depth: number, walk: Walk): string | undefined {
  walk.left -= items.length
  if (walk.left < 0) return `more than ${walk.limits.maxValues} values`
  for (let index = 0; index < items.length; index++) {
    const problem = problemIn(items[index], depth + 1, walk)
    if (problem === undefined) continue
    walk.path.unshift(index)
    return problem
  }
  return undefined
}

function memberProblem(members: object, depth: number, walk: Walk): string | undefined {
  // `for in` is enough, because a parsed object has no inherited members.
  for (const key in members) {
    walk.left -= 1
    if (walk.left < 0) return `more than ${walk.limits.maxValues} values`
    if (key === '__proto__') {
      Reflect.deleteProperty(members, key)
      continue
    }
    const problem = problemIn((members as Record<string, unknown>)[key], depth + 1, walk)
    if (problem === undefined) continue
    walk.path.unshift(key)
    return problem
  }
  return undefined
}

function checkBatch(items: unknown[], limits: CodecLimits, isLarge: boolean): Refusal | (Message | Refusal)[] {
  if (items.length === 0) return refuse(items, 'an array of messages must not be empty')
  if (items.length > limits.maxBatch) return refuse(items, `an array of more than ${limits.maxBatch} messages`)
  return items.map((item) => {
    const message = checkMessage(item)
    if (isLarge) sizes.set(message, estimateBytes(JSON.stringify(item)))
    const isHandshake = !(message instanceof Refusal) && 'method' in message && message.method === 'initialize'
    return isHandshake ? refuse(item, '"initialize" must not be part of an array') : message
  })
}

/**
 * Returns the position of a syntax error, if the message of the engine contains it. The message itself is not used,
 * because it quotes the input.
 */
function positionOf(cause: unknown, text: string): string {
  const message = cause instanceof Error ? cause.message : ''
  const position = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  if (position !== undefined) return ` at position ${position}`
  return /end of|unterminated/i.test(message) ? `, it ends too early (after ${text.length} characters)` : ''
}
