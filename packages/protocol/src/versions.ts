/** The protocol revisions and the era each belongs to. */

export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

/** A published revision of the protocol, named by its date. Revisions order as strings do. */
export type Revision = (typeof REVISIONS)[number]

/** `legacy`: a handshake opens a session. `modern`: every request describes itself. */
export type Era = 'legacy' | 'modern'

export const FIRST_MODERN_REVISION = '2026-07-28' satisfies Revision
export const LATEST_LEGACY_REVISION = '2025-11-25' satisfies Revision
export const LATEST_MODERN_REVISION = '2026-07-28' satisfies Revision

/** What an HTTP peer speaks that sends no version header and was never asked. */
export const ASSUMED_REVISION = '2025-03-26' satisfies Revision

const eras: Readonly<Record<Revision, Era>> = {
  '2024-11-05': 'legacy',
  '2025-03-26': 'legacy',
  '2025-06-18': 'legacy',
  '2025-11-25': 'legacy',
  '2026-07-28': 'modern',
}

// To compare a text that has just been read costs less than to look it up, for which it is hashed (40 ns): the newest goes first.

/** Whether this text names a revision that exists. */
export function isRevision(text: unknown): text is Revision {
  return text === LATEST_MODERN_REVISION || (typeof text === 'string' && Object.hasOwn(eras, text))
}

/** The era of a revision. */
export function eraOf(revision: Revision): Era {
  return revision === LATEST_MODERN_REVISION ? 'modern' : eras[revision]
}

/** The revisions of one era, oldest first. */
export function revisionsOf(era: Era): readonly Revision[] {
  return REVISIONS.filter((revision) => eras[revision] === era)
}

/** The one revision in which several messages may come as one JSON array. */
export const BATCH_REVISION = '2025-03-26' satisfies Revision
