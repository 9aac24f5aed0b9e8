/** The options of `sqliteStore`, and their checks. */

import { checkStoreOptions } from '@mcpx/protocol'

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /**
   * The prefix of the name of every table: letters, digits and underscores. Servers with different state need different prefixes.
   * Default: `mcpx_`.
   */
  readonly prefix?: string | undefined
  /**
   * How long a call waits while another connection writes, in ms. It blocks the whole process, because SQLite works
   * synchronously. After that, the call fails. Default: 5,000.
   */
  readonly timeout?: number | undefined
  /**
   * How often a process reads messages of other processes, while it has subscriptions or follows a stream, in ms.
   * Default: 50.
   */
  readonly pollInterval?: number | undefined
  /** How long a stream is kept after its last event, replay or refresh, in ms. Default: 300,000. */
  readonly eventTtl?: number | undefined
  /**
   * The largest number of events that are kept per stream. Older events are dropped, and streams cannot be resumed from
   * them. Default: 1,000.
   */
  readonly maxEvents?: number | undefined
  /** Called when messages may have been missed, with failures to read messages, and with errors of listeners. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/** Throws a `TypeError` or a `RangeError` for an invalid option. */
export function checkOptions(options: SqliteStoreOptions): void {
  checkStoreOptions('sqliteStore', options, ['timeout', 'pollInterval', 'eventTtl', 'maxEvents'])
  const { prefix = 'mcpx_' } = options
  if (/^[a-z_]\w{0,62}$/i.test(prefix)) return
  const expected = 'expected up to 63 letters, digits and underscores, without a leading digit'
  throw new TypeError(`prefix: ${expected}, got ${JSON.stringify(prefix)}`)
}
