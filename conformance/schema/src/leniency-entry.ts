/** The type of an entry of the leniency table. */
import type { Revision } from '@mcpx/protocol'
import type { Edit } from './official-validator.ts'

export interface Leniency {
  readonly title: string
  readonly reason: string
  readonly revisions: readonly Revision[]
  /** Definitions that show the difference. */
  readonly seenIn: readonly string[]
  readonly edit: Edit
}

export const MODERN = ['2026-07-28'] as const
export const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const

/** Revisions whose definitions of requests and notifications do not include `jsonrpc` and `id`. */
export const WITHOUT_ENVELOPE = ['2024-11-05', '2025-03-26', '2025-06-18'] as const
