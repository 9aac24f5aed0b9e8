/** The limits of messages and connections, with their defaults. */

export interface ValueLimits {
  /** The deepest nesting of objects and arrays. */
  maxDepth: number
  /** The largest number of members and items in a message, in total. */
  maxValues: number
}

export interface CodecLimits extends ValueLimits {
  /**
   * The longest message, in UTF-16 code units. Transports also limit the bytes that they read.
   */
  maxLength: number
  /** The largest number of messages in a batch. */
  maxBatch: number
}

/** The default limits: 32 Mi characters, 128 levels, 1,000,000 values, 100 messages in a batch. */
export const CODEC_LIMITS: Readonly<CodecLimits> = {
  maxLength: 32 * 1024 * 1024,
  maxDepth: 128,
  maxValues: 1_000_000,
  maxBatch: 100,
}

/** The longest request id or progress token, in UTF-16 code units. */
export const MAX_ID_LENGTH = 1_024
/** The longest name of a tool, prompt, resource, argument or program, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 1_024
/** The longest URI of a resource, in UTF-16 code units. */
export const MAX_URI_LENGTH = 8_192
/**
 * The longest cursor, in UTF-16 code units. V8 hashes strings of more than 16,383 code units by length only, so maps with
 * many longer keys take quadratic time.
 */
export const MAX_CURSOR_LENGTH = 16_000

/** The limits of all parts of a connection that a peer can fill. */
export interface DuplexLimits {
  /**
   * The largest number of messages of the peer that are handled at the same time. More requests are refused. Default:
   * 10,000.
   */
  running: number
  /**
   * The largest size of the messages of the peer that are handled at the same time, in bytes, estimated from their JSON.
   * More requests are refused, and more notifications are dropped. A single message may be larger. Default: 64 Mi.
   */
  receivedBytes: number
  /** The largest number of pending requests to the peer. More are rejected. Default: 10,000. */
  pending: number
  /**
   * The largest number of unsent responses before reading stops, and the largest number of unsent notifications before
   * more are dropped. Default: 10,000. If it is lower than the peer's limit of pending requests, two peers that only
   * send can block each other.
   */
  unsent: number
  /**
   * How long the peer may read nothing while `unsent` responses are waiting, in ms. After this time, the connection is
   * closed. Default: 60,000.
   */
  stallTimeout: number
}

/** The default limits of a connection. */
export const DUPLEX_LIMITS: Readonly<DuplexLimits> = {
  running: 10_000,
  receivedBytes: 64 * 1024 * 1024,
  pending: 10_000,
  unsent: 10_000,
  stallTimeout: 60_000,
}

/**
 * Completes limits with defaults, which replace missing and undefined values. Throws a `RangeError` for a value that is not
 * a number of 0 or more.
 */
export function withDefaultLimits<Limits extends object>(
  defaults: Readonly<Limits>,
  given: Partial<Limits> = {},
): Limits {
  const limits: Limits = { ...defaults }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (typeof value !== 'number' || !(value >= 0)) {
      throw new RangeError(`limits.${name}: expected a number of 0 or more, got ${String(value)}`)
    }
    limits[name as keyof Limits] = value as Limits[keyof Limits]
  }
  return limits
}

/** The memory of a request besides its JSON, in bytes. */
const REQUEST_COST = 2_048
/** The memory of an object or array besides its members, and of an item or member, in bytes. */
const OBJECT_COST = 64
const ITEM_COST = 24

/** Estimates the memory of a request from its JSON, in bytes. */
export function estimateBytes(text: string): number {
  return REQUEST_COST + estimateJson(text)
}

/** Estimates the memory of a value from its JSON, in bytes: `[{},{}]` takes far more than its 7 characters. */
export function estimateJson(text: string): number {
  const containers = countOf(text, '{') + countOf(text, '[')
  return text.length + containers * OBJECT_COST + countOf(text, ',') * ITEM_COST
}

/** Counts a character. For long strings, `indexOf` is many times faster than a loop over all characters. */
function countOf(text: string, character: string): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++
  return count
}
