import { describe, expect, it } from 'vitest'
import { readImports } from './imports.ts'
import { tokenize } from './tokens.ts'

const words = (source: string): string[] =>
  tokenize(source)
    .filter(({ kind }) => kind === 'word')
    .map(({ text }) => text)

const imported = (source: string): string[] =>
  readImports(tokenize(source).filter(({ kind }) => kind !== 'comment')).map(({ specifier }) => specifier)

describe('cutting TypeScript into tokens', () => {
  it('tells comments from what looks like one', () => {
    expect(words(`a('// no') /* b */ c // d\ne`)).toEqual(['a', 'c', 'e'])
    expect(words('a = /[/*]/.test(b) /* c */')).toEqual(['a', 'test', 'b'])
  })

  it('tells a division from a regular expression', () => {
    expect(words("a = b / c / d; e('x')")).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(words("return /'/.test(x) ? `'` : y")).toEqual(['return', 'test', 'x', 'y'])
    expect(words('f(a) / b; "c"')).toEqual(['f', 'a', 'b'])
  })

  it('reads what stands in the holes of templates, however deep', () => {
    expect(words('`a ${b({ c: `d ${e} f` })} g` + h')).toEqual(['b', 'c', 'e', 'h'])
    expect(words('`\\${a} \\` $ {b}` + c')).toEqual(['c'])
  })

  it('counts lines through comments and templates', () => {
    const last = tokenize('/*\n\n*/ `\n${a}\n` b\nc').at(-1)
    expect(last).toMatchObject({ text: 'c', line: 6 })
  })

  it('survives what is not TypeScript', () => {
    expect(words('`never closed ${a')).toEqual(['a'])
    expect(words("'never closed\na")).toContain('a')
  })
})

describe('reading imports', () => {
  it('finds each way of importing', () => {
    const source = `
      import 'a'
      import b, { x as from } from 'b'
      import type { C } from "c"
      import * as d from 'd'
      export { e } from 'e'
      export * from 'f'
      const g = await import('g')
      type H = import('h').H
    `
    expect(imported(source)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  })

  it('finds none in comments, strings and templates', () => {
    expect(imported(`// import 'a'\nf("import 'b'", \`import 'c'\`)\nconst from = 'd'\nf(from, 'e')`)).toEqual([])
  })
})
