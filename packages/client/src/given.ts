/** Refuses what cannot be connected to, or not like that, and says what to write. */

import { isRevision, kindOf, quoted, REVISIONS } from '@mcpx/protocol'
import type { Target } from './line.ts'
import type { ClientOptions } from './options.ts'

/** Throws a `TypeError`. The types say the same, to those who have them. */
export function checkGiven(target: unknown, { era }: ClientOptions): asserts target is Target {
  const isText = typeof target === 'string' || target instanceof URL
  if (isText) throw new TypeError(`connect: write connect(http(${quoted(String(target))})); a URL has no carrier yet`)
  const isTarget = typeof target === 'object' && target !== null && ('respond' in target || 'connect' in target)
  if (!isTarget)
    throw new TypeError(`connect: expected http(url), spawn(command, args) or a server, got ${kindOf(target)}`)
  if (era === undefined || ['auto', 'modern', 'legacy'].includes(era) || isRevision(era)) return
  throw new TypeError(
    `era: expected auto, modern, legacy or one of ${REVISIONS.join(', ')}; got ${quoted(String(era))}`,
  )
}

/** Throws a `TypeError` where no text stands first, as where one object holds all. `form` is how the call is written. */
export function checkFirst(first: unknown, form: string): asserts first is string {
  if (typeof first !== 'string') throw new TypeError(`${form}: expected string first, got ${kindOf(first)}`)
}
