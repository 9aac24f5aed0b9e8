import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { blocksOf, filesOf, programsOf } from './blocks.ts'
import { documents, pathOf } from './documents.ts'
import { importedBy, installedBy } from './installs.ts'

const guides = documents.filter((path) => path.startsWith('docs/guides/'))

describe('what a reader installs', () => {
  it('is found in commands and in code', () => {
    expect(installedBy('npm install @a/b c    # for d\nnpm install e')).toEqual(['@a/b', 'c', 'e'])
    expect(importedBy("import a from '@a/b/c'\nimport type b from 'd'\nimport 'node:fs'\nimport './e.mjs'")).toEqual([
      '@a/b',
      'd',
    ])
  })

  it.each(guides)('is all that the code of %s imports, and nothing else', (document) => {
    const blocks = blocksOf(pathOf(document))
    const code = [...programsOf(blocks), ...filesOf(blocks)].map(({ text }) => text).join('\n')
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)
    expect(installedBy(commands.join('\n')).sort()).toEqual(importedBy(code).sort())
  })

  it('is said before the first line of code', () => {
    const late = guides.filter((document) => {
      const text = readFileSync(pathOf(document), 'utf8')
      return text.indexOf('npm install') > text.search(/^```(?:ts|js)/m)
    })
    expect(late).toEqual([])
  })
})
