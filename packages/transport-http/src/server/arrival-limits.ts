/** Within which limits a request has to arrive. Apart from what enforces them, as Node's own server does it by itself. */

export interface ArrivalLimits {
  /**
   * How large the headers of a request may be together, in bytes. Larger ones are refused with 431, and the connection
   * is ended. What runs the server may have a limit of its own. Default: 16,384.
   */
  readonly maxHeaderSize?: number | undefined
  /**
   * How long a request may take to arrive, to the last byte of its body, in ms: with `serveHttp` from its first byte on,
   * with `mcp` from the last of its headers. A slower one is refused with 408, and the connection is ended; up to a
   * quarter of the time may pass before that is noticed. Default: 60,000.
   */
  readonly requestTimeout?: number | undefined
}

/** The limits with the defaults filled in. Throws a `RangeError` for one that is none. */
export function readArrivalLimits({ maxHeaderSize = 16 * 1024, requestTimeout = 60_000 }: ArrivalLimits) {
  const limits = { maxHeaderSize, requestTimeout }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name}: expected an integer from 1, got ${value}`)
  }
  return limits
}

export const sayTooLarge = (bytes: number) => `The headers are larger than ${bytes} bytes (maxHeaderSize)`
export const sayTooSlow = (ms: number) => `The request did not arrive within ${ms} ms (requestTimeout)`
