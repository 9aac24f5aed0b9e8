/** Every way on which behaviours are tried. */

import { eraOf, REVISIONS, type Revision } from '@mcpx/protocol'
import type { Carry } from './carriers/carrier.ts'
import { overEvents, overHttp, overStatelessHttp } from './carriers/http.ts'
import { overLines } from './carriers/lines.ts'
import { overObjects, overText } from './carriers/memory.ts'

const carriers = {
  objects: overObjects,
  text: overText,
  lines: overLines,
  HTTP: overHttp,
  'HTTP without sessions': overStatelessHttp,
  'HTTP+SSE': overEvents,
} as const satisfies Record<string, Carry>

export type Carrier = keyof typeof carriers

export const carrierNames = Object.keys(carriers) as readonly Carrier[]

export function carry(carrier: Carrier): Carry {
  return carriers[carrier]
}

/**
 * Whether a revision has it. Sessions went with the handshake; the first revision had a transport of its own, and without
 * a session nothing on the other ones tells it from the second.
 */
export function exists(carrier: Carrier, revision: Revision): boolean {
  const isFirst = revision === REVISIONS[0]
  if (carrier === 'HTTP+SSE') return isFirst
  return carrier !== 'HTTP without sessions' || (eraOf(revision) === 'legacy' && !isFirst)
}

/** Whether each request goes its own way; elsewhere one connection carries all that is said. */
export function isOneByOne(carrier: Carrier, revision: Revision): boolean {
  // At the path of its own, too, modern requests are each on its own.
  if (carrier === 'HTTP+SSE') return eraOf(revision) === 'modern'
  return carrier === 'HTTP' || carrier === 'HTTP without sessions'
}
