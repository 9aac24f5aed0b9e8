/** Where Node may be used: all else runs on any runtime. */
import { isNodeModule } from './imports.ts'
import type { Law, Violation } from './law.ts'
import { shortName, type Tree } from './tree.ts'

/** The packages that use Node, and in which of their files (below `src`); none named means all. */
const nodeFiles: Readonly<Record<string, RegExp>> = {
  auth: /^node(?:\.ts$|\/)/,
  cli: /^/,
  'transport-stdio': /^/,
  'transport-http': /^node(?:\.ts$|\/)/,
}

export const neutral: Law = {
  name: 'neutral',
  says: 'Packages run on any runtime: no Node module and no Node types, but in the files named in scripts/laws/neutral.ts.',
  check: (tree) => [...checkSources(tree), ...checkConfigs(tree)],
}

function checkSources(tree: Tree): Violation[] {
  const products = tree.sources.filter(({ folder, isTest }) => folder.startsWith('packages/') && !isTest)
  return products.flatMap(({ path, folder, imports, comments }) => {
    const below = path.slice(`${folder}/src/`.length)
    if (nodeFiles[shortName(folder)]?.test(below)) return []
    const modules = imports
      .filter(({ specifier }) => isNodeModule(specifier))
      .map(({ specifier, line }) => ({ path, line, what: `imports ${specifier}` }))
    // A part of the language's own library is neutral: naming it lets consumers compile whatever their `lib` says.
    const references = comments
      .filter(({ text }) => /<reference\s+(?:types|lib="(?!es))/.test(text))
      .map(({ line }) => ({ path, line, what: 'brings types of its own by a reference' }))
    return [...modules, ...references]
  })
}

/** The types a package sees are set once, in tsconfig.base.json; a package of Node's may add Node's. */
function checkConfigs(tree: Tree): Violation[] {
  return tree.files
    .filter((path) => /^packages\/[^/]+\/tsconfig[^/]*\.json$/.test(path))
    .filter((path) => !mayUseNode(path) && /"(?:types|lib)"\s*:/.test(tree.read(path)))
    .map((path) => ({ path, what: 'sets `types` or `lib`, which tsconfig.base.json sets for all' }))
}

/** A package that uses Node in some files only keeps a tsconfig.node.json for them. */
function mayUseNode(path: string): boolean {
  const [, name = '', file] = path.split('/')
  const files = nodeFiles[name]
  return files !== undefined && (files.test('') || file === 'tsconfig.node.json')
}
