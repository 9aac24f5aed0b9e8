import { REVISIONS } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { toRevision } from './revision.ts'

describe('toRevision', () => {
  it('returns each revision unchanged', () => {
    expect(REVISIONS.map(toRevision)).toEqual(REVISIONS)
  })

  it('returns the newest revision for a draft', () => {
    expect(['DRAFT', 'draft', 'DRAFT-2026-v1'].map(toRevision)).toEqual(['2026-07-28', '2026-07-28', '2026-07-28'])
  })

  it.each([undefined, '', '2025-11-24', 'latest', 'drafty'])('throws an error that names the value for %s', (value) => {
    const shown = value === undefined ? 'not set' : `'${value}'`
    expect(() => toRevision(value)).toThrow(`MCP_CONFORMANCE_PROTOCOL_VERSION is ${shown}: it is one of 2024-11-05,`)
  })
})
