/** The options of `durableObjectStore`, and their checks. */

import { refuseUnknownOption } from '@mcpx/protocol'

/** Options of `durableObjectStore`. */
export interface CloudflareStoreOptions {
  /** Begins the name of every object. Servers with different state need different prefixes. Default: `mcpx:`. */
  readonly prefix?: string | undefined
  /** How long a stream is kept after its last event, replay or refresh, in ms. Default: 300,000. */
  readonly eventTtl?: number | undefined
  /**
   * The most events that are kept per stream. Beyond it, the oldest are dropped and cannot be resumed from. Default: 1,000.
   */
  readonly maxEvents?: number | undefined
  /** Called with lost connections and errors of listeners. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

const NAMES: readonly (keyof CloudflareStoreOptions)[] = ['prefix', 'eventTtl', 'maxEvents', 'onWarning']

/** Throws a `TypeError` or a `RangeError` for an invalid option. */
export function checkOptions(options: CloudflareStoreOptions): void {
  refuseUnknownOption('durableObjectStore', options, NAMES)
  if (options.prefix !== undefined && typeof options.prefix !== 'string') {
    throw new TypeError(`prefix: expected a string, got ${typeof options.prefix}`)
  }
  for (const name of ['eventTtl', 'maxEvents'] as const) {
    const value = options[name]
    if (value === undefined || (Number.isInteger(value) && value >= 1 && value < 2 ** 31)) continue
    throw new RangeError(`${name}: expected a whole number from 1 to 2147483647, got ${String(value)}`)
  }
  if (options.onWarning !== undefined && typeof options.onWarning !== 'function') {
    throw new TypeError(`onWarning: expected a function, got ${typeof options.onWarning}`)
  }
}
