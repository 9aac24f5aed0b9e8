/** What a source file may hold, as far as the linter does not see to it. */
import type { Law, Violation } from './law.ts'
import type { Token } from './tokens.ts'
import { isShipped, type SourceFile, type Tree } from './tree.ts'

export const namedExports: Law = {
  name: 'named-exports',
  says: 'Packages export by name: no `export *`, no default export.',
  check: (tree) => inPackages(tree).flatMap((source) => checkExports(source)),
}

function checkExports({ path, code }: SourceFile): Violation[] {
  return code.flatMap(({ kind, text, line }, index) => {
    const after = code[index + 1]?.text === 'type' ? code[index + 2]?.text : code[index + 1]?.text
    const exportsAll = kind === 'word' && text === 'export' && after === '*'
    const exportsDefault = kind === 'word' && text === 'export' && after === 'default'
    const asDefault = text === 'as' && after === 'default'
    if (exportsAll) return [{ path, line, what: 'exports everything: name what is exported' }]
    return exportsDefault || asDefault ? [{ path, line, what: 'exports a default: give it its name' }] : []
  })
}

export const noInheritance: Law = {
  name: 'no-inheritance',
  says: 'Nothing is extended but Error.',
  check: (tree) => inPackages(tree).flatMap((source) => checkClasses(source)),
}

function checkClasses({ path, code }: SourceFile): Violation[] {
  return code.flatMap(({ kind, text, line }, index) => {
    if (kind !== 'word' || text !== 'class' || code[index - 1]?.text === '.') return []
    const base = baseClass(code.slice(index + 1))
    return base === undefined || /Error$/.test(base) ? [] : [{ path, line, what: `extends ${base}: compose instead` }]
  })
}

/** The word after `extends` in a class's head; `<T extends X>` belongs to its type parameters. */
function baseClass(afterClass: readonly Token[]): string | undefined {
  let depth = 0
  for (const [index, { text }] of afterClass.entries()) {
    if (text === '<') depth += 1
    if (text === '>') depth -= 1
    if (depth === 0 && text === '{') return undefined
    if (depth === 0 && text === 'extends') return afterClass[index + 1]?.text
  }
  return undefined
}

export const openingSentence: Law = {
  name: 'opening-sentence',
  says: 'Each file of a package begins with a comment that says what the file is for.',
  check: (tree) =>
    inPackages(tree)
      .filter(({ isTest, code, comments }) => !isTest && (comments[0]?.line ?? Infinity) > (code[0]?.line ?? 0))
      .map(({ path }) => ({ path, line: 1, what: 'begins without a sentence on what it is for' })),
}

const leftOver = /@ts-(?:ignore|expect-error|nocheck)|\b(?:TODO|FIXME|XXX)\b/

export const nothingLeftOver: Law = {
  name: 'nothing-left-over',
  says: 'Shipped sources hold no @ts-ignore (nor its likes), no TODO and no FIXME.',
  check: (tree) =>
    tree.sources
      .filter(isShipped)
      .flatMap(({ path, comments }) =>
        comments
          .filter(({ text }) => leftOver.test(text))
          .map(({ line, text }) => ({ path, line, what: `holds ${leftOver.exec(text)?.[0]}` })),
      ),
}

const hardRule =
  /biome-ignore(?:-all|-start)?\s+(lint\/\S*(?:noExplicitAny|noImportCycles|noExcessiveLines\w+|noDefaultExport|useFilenamingConvention|noFloatingPromises)|lint:)/

export const noWayRound: Law = {
  name: 'no-way-round',
  says: 'Shipped sources do not switch off the lint rules on `any`, cycles, length, default exports, names and floating promises.',
  check: (tree) =>
    tree.sources
      .filter(isShipped)
      .flatMap(({ path, comments }) =>
        comments
          .filter(({ text }) => hardRule.test(text))
          .map(({ line, text }) => ({ path, line, what: `switches off ${hardRule.exec(text)?.[1]}` })),
      ),
}

const testWords = new Set(['describe', 'it', 'test', 'suite', 'bench'])
const silencers = new Set(['skip', 'only', 'todo', 'fixme'])

export const noSilencedTests: Law = {
  name: 'no-silenced-tests',
  says: 'No test is skipped, marked as the only one, or left for later.',
  check: (tree) => tree.sources.flatMap((source) => checkTests(source)),
}

function checkTests({ path, isTest, code }: SourceFile): Violation[] {
  if (!isTest) return []
  return code.flatMap(({ kind, text, line }, index) => {
    const [dot, name] = [code[index + 1]?.text, code[index + 2]?.text ?? '']
    const silenced = testWords.has(text) && dot === '.' && silencers.has(name)
    const crossed = /^x(?:it|test|describe)$/.test(text) && dot === '('
    return kind === 'word' && (silenced || crossed) ? [{ path, line, what: `silences a test by ${text}.${name}` }] : []
  })
}

function inPackages(tree: Tree): SourceFile[] {
  return tree.sources.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path))
}
