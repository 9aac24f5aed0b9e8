/** The transports of the matrix. */

import { eraOf, REVISIONS, type Responder, type Revision } from '@mcpx/protocol'
import { overEvents, overHttp, overStatelessHttp } from './transports/http.ts'
import { overLines } from './transports/lines.ts'
import { overObjects, overText } from './transports/memory.ts'
import type { MatrixTransport, TransportFactory, TransportOptions } from './transports/transport.ts'

const transports = {
  objects: overObjects,
  text: overText,
  lines: overLines,
  HTTP: overHttp,
  'HTTP without sessions': overStatelessHttp,
  'HTTP+SSE': overEvents,
} as const satisfies Record<string, TransportFactory>

export type TransportName = keyof typeof transports

export const transportNames = Object.keys(transports) as readonly TransportName[]

/** Creates a transport to a server. */
export function createTransport(
  transport: TransportName,
  server: Responder,
  options: TransportOptions,
): MatrixTransport {
  return transports[transport](server, options)
}

/**
 * Whether a revision supports a transport. Sessions exist only in the legacy era. HTTP+SSE is the transport of the
 * first revision, which cannot be distinguished from the second revision over HTTP without sessions.
 */
export function supports(transport: TransportName, revision: Revision): boolean {
  const isFirst = revision === REVISIONS[0]
  if (transport === 'HTTP+SSE') return isFirst
  return transport !== 'HTTP without sessions' || (eraOf(revision) === 'legacy' && !isFirst)
}

/** Whether each message is sent in a separate HTTP request. Otherwise one connection carries all messages. */
export function hasSeparateRequests(transport: TransportName, revision: Revision): boolean {
  // The endpoint of HTTP+SSE also answers modern requests, without a session.
  if (transport === 'HTTP+SSE') return eraOf(revision) === 'modern'
  return transport === 'HTTP' || transport === 'HTTP without sessions'
}
