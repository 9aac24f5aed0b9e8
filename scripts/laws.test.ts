/** Each law holds in a small clean repository, and is seen to fail in one that breaks it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { broken, clean, type Files } from './laws/broken-trees.ts'
import { laws } from './laws/laws.ts'
import { readTree } from './laws/tree.ts'

/** The names of the laws that do not hold in a repository of these files, with what they say. */
function violated(files: Files): Record<string, readonly object[]> {
  const root = mkdtempSync(join(tmpdir(), 'laws-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const tree = readTree(root)
    const results = laws.map((law) => [law.name, law.check(tree)] as const)
    return Object.fromEntries(results.filter(([, violations]) => violations.length > 0))
  } finally {
    rmSync(root, { recursive: true })
  }
}

describe('the laws', () => {
  it('all hold in a clean repository', () => {
    expect(violated(clean)).toEqual({})
  })

  it('are each seen to fail below', () => {
    expect(laws.map((law) => law.name).sort()).toEqual(Object.keys(broken).sort())
  })

  for (const [law, ways] of Object.entries(broken)) {
    describe(law, () => {
      for (const [way, files] of Object.entries(ways)) {
        it(`does not allow: ${way}`, () => {
          const found = violated({ ...clean, ...files })
          expect(Object.keys(found)).toEqual([law])
          expect(found[law]).toHaveLength(1)
        })
      }
    })
  }
})
