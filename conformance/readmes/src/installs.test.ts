import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { blocksOf, filesOf, programsOf } from './blocks.ts'
import { documents, pathOf } from './documents.ts'
import { importedBy, installedBy } from './installs.ts'

const guides = documents.filter((path) => path.startsWith('docs/guides/'))

describe('the installed packages', () => {
  it('are parsed from commands and imports', () => {
    expect(installedBy('npm install @a/b c    # for d\nnpm install e')).toEqual(['@a/b', 'c', 'e'])
    expect(importedBy("import a from '@a/b/c'\nimport type b from 'd'\nimport 'node:fs'\nimport './e.mjs'")).toEqual([
      '@a/b',
      'd',
    ])
  })

  it.each(guides)('are exactly those that the code of %s imports', (document) => {
    const blocks = blocksOf(pathOf(document))
    const code = [...programsOf(blocks), ...filesOf(blocks)].map(({ text }) => text).join('\n')
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)
    expect(installedBy(commands.join('\n')).sort()).toEqual(importedBy(code).sort())
  })

  it('are stated before the first code block', () => {
    const late = guides.filter((document) => {
      const text = readFileSync(pathOf(document), 'utf8')
      return text.indexOf('npm install') > text.search(/^```(?:ts|js)/m)
    })
    expect(late).toEqual([])
  })
})
