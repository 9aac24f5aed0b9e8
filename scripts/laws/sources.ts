/** What a source file may hold, as far as the linter does not see to it. */
import type { Law, Violation } from './law.ts'
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

function inPackages(tree: Tree): SourceFile[] {
  return tree.sources.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path))
}
