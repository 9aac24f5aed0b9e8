/** What an entry of the leniency table is. */
import type { Revision } from '@mcpx/protocol'
import type { Edit } from './judge.ts'

export interface Leniency {
  readonly what: string
  readonly why: string
  readonly revisions: readonly Revision[]
  /** Definitions in which the difference shows. */
  readonly seenIn: readonly string[]
  readonly edit: Edit
}

export const MODERN = ['2026-07-28'] as const
export const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const

/** Revisions whose definitions of requests and notifications leave out the frame of the message. */
export const FRAMELESS = ['2024-11-05', '2025-03-26', '2025-06-18'] as const
