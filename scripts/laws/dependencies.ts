/** What a package imports and what it declares are the same. */
import { packageOf } from './imports.ts'
import type { Law, Violation } from './law.ts'
import type { Package, SourceFile, Tree } from './tree.ts'

export const dependencies: Law = {
  name: 'dependencies',
  says: 'What is imported is declared in package.json, and what a package declares it imports.',
  check: (tree) => [...tree.packages.flatMap((each) => checkDeclared(each, tree)), ...checkScripts(tree)],
}

function checkDeclared(each: Package, tree: Tree): Violation[] {
  const { folder, manifest } = each
  const shipped = { ...manifest.dependencies, ...manifest.peerDependencies }
  const atHand = { ...shipped, ...manifest.devDependencies, ...tree.manifest.devDependencies }
  const inProduct = folder.startsWith('packages/')
  const undeclared = each.sources.flatMap((source) =>
    missing(source, inProduct && !source.isTest ? shipped : atHand, manifest.name),
  )
  return inProduct ? [...undeclared, ...unused(each)] : undeclared
}

function checkScripts(tree: Tree): Violation[] {
  const outside = tree.sources.filter((source) => source.folder === '')
  return outside.flatMap((source) => missing(source, { ...tree.manifest.devDependencies }, undefined))
}

function missing(source: SourceFile, declared: object, own: string | undefined): Violation[] {
  return source.imports.flatMap(({ specifier, line }) => {
    const name = packageOf(specifier)
    if (name === undefined || name === own || Object.hasOwn(declared, name)) return []
    return [{ path: source.path, line, what: `imports ${name}, which is not declared` }]
  })
}

function unused({ folder, manifest, sources }: Package): Violation[] {
  const importedBy = (some: readonly SourceFile[]): Set<string | undefined> =>
    new Set(some.flatMap((source) => source.imports.map(({ specifier }) => packageOf(specifier))))
  const product = importedBy(sources.filter((source) => !source.isTest))
  const all = importedBy(sources)
  const shipped = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  const names = [
    ...shipped.filter((name) => !product.has(name)),
    ...Object.keys(manifest.devDependencies ?? {}).filter((name) => !all.has(name) && !name.startsWith('@types/')),
  ]
  return names
    .filter((name) => !(name in (manifest.peerDependencies ?? {}) && all.has(name)))
    .map((name) => ({ path: `${folder}/package.json`, what: `declares ${name}, which nothing imports` }))
}
