import { describe, expect, it } from 'vitest'

import {
  ASSUMED_REVISION,
  eraOf,
  isRevision,
  LATEST_LEGACY_REVISION,
  LATEST_MODERN_REVISION,
  REVISIONS,
  revisionsOf,
} from './methods.ts'

describe('the revisions', () => {
  it('are five, oldest first, and order as strings do', () => {
    expect(REVISIONS).toEqual(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])
    expect([...REVISIONS].sort()).toEqual(REVISIONS)
  })

  it('belong to one era each: first all legacy ones, then the modern ones', () => {
    expect([...revisionsOf('legacy'), ...revisionsOf('modern')]).toEqual(REVISIONS)
    for (const revision of REVISIONS) {
      expect(eraOf(revision)).toBe(revision < LATEST_MODERN_REVISION ? 'legacy' : 'modern')
    }
    expect(revisionsOf('legacy').at(-1)).toBe(LATEST_LEGACY_REVISION)
    expect(revisionsOf('modern').at(-1)).toBe(LATEST_MODERN_REVISION)
    expect(eraOf(ASSUMED_REVISION)).toBe('legacy')
  })

  it('are distinguished from other strings and inherited property names', () => {
    for (const revision of REVISIONS) expect(isRevision(revision)).toBe(true)
    for (const other of ['2026-07-29', '', 'toString', '__proto__', 'constructor', 20260728, null, undefined]) {
      expect(isRevision(other)).toBe(false)
    }
  })
})
