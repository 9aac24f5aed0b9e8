/** Within which limits a request has to arrive. Apart from what enforces them: it names none of Node's types, as the entry must not. */

export interface ArrivalLimits {
  /**
   * How large the headers of a request may be together, in bytes. Larger ones are refused with 431, and the connection
   * is ended. Default: 16,384.
   */
  readonly maxHeaderSize?: number | undefined
  /**
   * How long a request may take to arrive, from its first byte to the last of its body, in ms. A slower one is refused
   * with 408, and the connection is ended; up to a quarter of the time may pass before that is noticed. Default: 60,000.
   */
  readonly requestTimeout?: number | undefined
}
