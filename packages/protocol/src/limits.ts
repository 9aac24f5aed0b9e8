/** The limits of messages and connections, with their defaults. */

export interface ValueLimits {
  /** How deep objects and arrays may nest. */
  maxDepth: number
  /** How many members and items a message may hold in all. */
  maxValues: number
}

export interface CodecLimits extends ValueLimits {
  /**
   * How long the text of a message may be, in UTF-16 code units. A transport that counts bytes does so while it
   * reads.
   */
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

/** How long an id of a request, or a progress token, may be, in UTF-16 code units. */
export const MAX_ID_LENGTH = 1_024
/** How long the name of a tool, prompt, resource, argument or program may be, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 1_024
/** How long the URI of a resource may be, in UTF-16 code units. */
export const MAX_URI_LENGTH = 8_192
/**
 * How long a cursor may be, in UTF-16 code units. V8 hashes strings of more than 16,383 by their length alone, so that
 * maps with many of them as keys take quadratic time.
 */
export const MAX_CURSOR_LENGTH = 16_000

/** The limits of a connection: every part of it that a peer can fill. */
export interface DuplexLimits {
  /** How many messages of the peer are handled at once. More requests are refused. Default: 10,000. */
  running: number
  /** How many requests of this side may wait for a response. More are rejected. Default: 10,000. */
  pending: number
  /**
   * How many responses may wait for a slow peer before reading stops, and how many notifications before more are
   * dropped. Default: 10,000. With less than the peer may have pending, two sides that send each other requests without
   * reading can wait for each other.
   */
  unsent: number
  /**
   * How long that many responses may wait without one being taken, in ms, before the connection is closed. Default:
   * 60,000.
   */
  stallTimeout: number
}

/** The default limits of a connection. */
export const DUPLEX_LIMITS: Readonly<DuplexLimits> = {
  running: 10_000,
  pending: 10_000,
  unsent: 10_000,
  stallTimeout: 60_000,
}

/**
 * Completes limits with defaults. Absent and `undefined` mean the default. Throws a `RangeError` for other values
 * than numbers of 0 or more.
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
