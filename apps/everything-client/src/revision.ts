/** The revision that the suite asks to be spoken. */
import { isRevision, LATEST_MODERN_REVISION, REVISIONS, type Revision } from '@mcpx/protocol'

/** The newest has names besides, from before it had a date. Nothing else is guessed at. */
export function toRevision(asked: string | undefined): Revision {
  if (isRevision(asked)) return asked
  if (asked !== undefined && /^draft(?:-|$)/i.test(asked)) return LATEST_MODERN_REVISION
  throw new RangeError(
    `MCP_CONFORMANCE_PROTOCOL_VERSION is ${asked === undefined ? 'not set' : `'${asked}'`}: it is one of ${REVISIONS.join(', ')}, or DRAFT.`,
  )
}
