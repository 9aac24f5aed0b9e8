import { REVISIONS } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { toRevision } from './revision.ts'

describe('the revision that the suite asks for', () => {
  it('is spoken as it is named', () => {
    expect(REVISIONS.map(toRevision)).toEqual(REVISIONS)
  })

  it('is the newest when it has no date yet', () => {
    expect(['DRAFT', 'draft', 'DRAFT-2026-v1'].map(toRevision)).toEqual(['2026-07-28', '2026-07-28', '2026-07-28'])
  })

  it.each([undefined, '', '2025-11-24', 'latest', 'drafty'])('is refused, by its name, when it is %s', (asked) => {
    const named = asked === undefined ? 'not set' : `'${asked}'`
    expect(() => toRevision(asked)).toThrow(`MCP_CONFORMANCE_PROTOCOL_VERSION is ${named}: it is one of 2024-11-05,`)
  })
})
