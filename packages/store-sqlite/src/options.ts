/** The options of `sqliteStore`, and their checks. */

import { refuseUnknownOption } from '@mcpx/protocol'

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /**
   * Begins the name of every table: letters, digits and underscores. Servers with different state need different prefixes.
   * Default: `mcpx_`.
   */
  readonly prefix?: string | undefined
  /**
   * How long a call waits while another connection writes, in ms. The process waits with it, because SQLite works
   * synchronously. Beyond it, the call fails. Default: 5,000.
   */
  readonly timeout?: number | undefined
  /**
   * How often a process looks for messages of other processes while it has subscriptions or follows a stream, in ms.
   * Default: 50.
   */
  readonly pollInterval?: number | undefined
  /** How long a stream is kept after its last event, replay or refresh, in ms. Default: 300,000. */
  readonly eventTtl?: number | undefined
  /**
   * The most events that are kept per stream. Beyond it, the oldest are dropped and cannot be resumed from. Default: 1,000.
   */
  readonly maxEvents?: number | undefined
  /** Called when messages may have been missed, with failures to read messages, and with errors of listeners. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

const NAMES: readonly (keyof SqliteStoreOptions)[] = [
  'prefix',
  'timeout',
  'pollInterval',
  'eventTtl',
  'maxEvents',
  'onWarning',
]

/** Throws a `TypeError` or a `RangeError` for an invalid option. */
export function checkOptions(options: SqliteStoreOptions): void {
  refuseUnknownOption('sqliteStore', options, NAMES)
  const { prefix, onWarning } = options
  if (prefix !== undefined && !(typeof prefix === 'string' && /^[a-z_]\w{0,62}$/i.test(prefix))) {
    const got = typeof prefix === 'string' ? JSON.stringify(prefix) : typeof prefix
    throw new TypeError(
      `prefix: expected up to 63 letters, digits and underscores that begin with no digit, got ${got}`,
    )
  }
  for (const name of ['timeout', 'pollInterval', 'eventTtl', 'maxEvents'] as const) {
    const value = options[name]
    if (value === undefined || (Number.isInteger(value) && value >= 1 && value < 2 ** 31)) continue
    throw new RangeError(`${name}: expected a whole number from 1 to 2147483647, got ${String(value)}`)
  }
  if (onWarning !== undefined && typeof onWarning !== 'function') {
    throw new TypeError(`onWarning: expected a function, got ${typeof onWarning}`)
  }
}
