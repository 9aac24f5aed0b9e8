import { describe, expect, it } from 'vitest'
import { type Measured, measuredIn, packageTable, staleNumbers } from './package-table.ts'
import type { Tarball } from './tarball.ts'

const tarballOf = (name: string): Tarball => ({
  path: '',
  bytes: Buffer.of(),
  files: new Map(),
  manifest: { name, version: '1.0.0', exports: {}, dependencies: { zod: '^4.0.0' } },
})
const sse: Measured = { tarball: tarballOf('@mcpx/sse'), packages: 2, kilobytes: 200, gzipped: 3 }

describe('the table of packages', () => {
  it('takes its numbers from the report of a package', () => {
    const line = '@mcpx/sse 1.0.0: 33 files, 17 kB packed; alone: 2 packages, 200 kB installed, 3.0 kB gzipped'
    expect(measuredIn(line, sse.tarball)).toEqual(sse)
    expect(measuredIn('@mcpx/sse 1.0.0: 33 files, 17 kB packed', sse.tarball)).toBeUndefined()
  })

  it('is content with itself, also when a number has moved a little', () => {
    const table = packageTable([sse])
    expect(staleNumbers(table, [sse])).toEqual([])
    expect(staleNumbers(table, [{ ...sse, kilobytes: 215 }])).toEqual([])
  })

  it('says which number is not so any more, and which package is missing', () => {
    expect(staleNumbers(packageTable([sse]), [{ ...sse, kilobytes: 300 }])).toEqual([
      'README.md says of @mcpx/sse 200, 2, 3; it is 300, 2, 3',
    ])
    expect(staleNumbers('', [sse])).toEqual(['README.md has no line for @mcpx/sse'])
  })

  it('wants words for each package', () => {
    expect(() => packageTable([{ ...sse, tarball: tarballOf('@mcpx/new') }])).toThrow('what @mcpx/new is for')
  })
})
