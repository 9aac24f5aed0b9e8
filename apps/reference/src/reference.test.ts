import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findDeadLinks } from './dead-links.ts'
import { type Reference, readEntries, readReference } from './reference.ts'

const packages = [...new Set(readEntries().map((entry) => entry.package))]

describe('the API reference', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reference-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let reference: Reference

  beforeAll(async () => {
    reference = await readReference()
    await reference.write(folder)
  }, 60_000)

  it.each(packages)('has a sentence for each public symbol of %s', (name) => {
    expect(reference.undocumented.get(name), 'add a doc comment to each of them').toEqual([])
  })

  it('has no `@link` that leads nowhere', () => {
    expect(reference.warnings).toEqual([])
  })

  it('has no dead links between its pages', () => {
    const { links, dead } = findDeadLinks(folder)
    expect(dead).toEqual([])
    expect(links).toBeGreaterThan(1_000)
  })
})
