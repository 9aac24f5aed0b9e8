/** Parses the revision that the suite sets. */
import { isRevision, LATEST_MODERN_REVISION, REVISIONS, type Revision } from '@mcpx/protocol'

/** Returns the revision. Names that begin with `DRAFT` mean the newest revision. Throws for other values. */
export function toRevision(value: string | undefined): Revision {
  if (isRevision(value)) return value
  if (value !== undefined && /^draft(?:-|$)/i.test(value)) return LATEST_MODERN_REVISION
  throw new RangeError(
    `MCP_CONFORMANCE_PROTOCOL_VERSION is ${value === undefined ? 'not set' : `'${value}'`}: it is one of ${REVISIONS.join(', ')}, or DRAFT.`,
  )
}
