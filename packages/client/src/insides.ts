/** What is to be known of clients by what is made of them. */

export interface Inside {
  /** Fires when the client is closed. */
  readonly closing: AbortSignal
  /** How long its server may take to answer, in ms, where that was said. */
  readonly timeout: number | undefined
  /** Whether all that the server tells comes in the order in which it was told. */
  isOrdered(): boolean
}

export const insides: WeakMap<object, Inside> = new WeakMap()
