/** What bounds a connection: every part of it that a peer can fill. */

export interface DuplexLimits {
  /** How many of the peer's messages may be dealt with at once. More requests are refused. Default: 10,000. */
  running: number
  /** How many requests of this side may wait for an answer. More are rejected. Default: 10,000. */
  pending: number
  /**
   * How many answers may wait for a slow peer before nothing more is read from it, and how many notifications before
   * more are dropped. Default: 10,000. With less than the peer may have pending, two sides that ask each other
   * without reading can wait for each other.
   */
  unsent: number
  /** How long so many answers may wait with none being taken, in ms, before the connection is closed. Default: 60,000. */
  stallTimeout: number
}

export const DUPLEX_LIMITS: Readonly<DuplexLimits> = {
  running: 10_000,
  pending: 10_000,
  unsent: 10_000,
  stallTimeout: 60_000,
}
