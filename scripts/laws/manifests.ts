/** What the package.json of each package says. */
import type { Law, Violation } from './law.ts'
import { type Manifest, type Package, shortName, type Tree } from './tree.ts'

const MOST_SUBPATHS = 3
/** What is built, and what is to be read: no sources, for no map leads to them. */
const PUBLISHED = 'LICENSE,README.md,dist'

export const manifests: Law = {
  name: 'manifests',
  says: 'A package.json names what it publishes: @mcpx/<folder>, ESM, without side effects, with licence, engines and files.',
  check: (tree) => products(tree).flatMap((each) => say(each, plainFaults(each))),
}

function plainFaults({ folder, manifest }: Package): string[] {
  const faults: (string | false)[] = [
    manifest.name !== `@mcpx/${shortName(folder)}` && `is named ${manifest.name}`,
    manifest.type !== 'module' && 'is not of type module',
    manifest.sideEffects !== false && 'does not say `sideEffects: false`',
    manifest.engines?.node === undefined && 'does not say which Node it needs',
    !manifest.license && 'has no licence',
    !manifest.description && 'has no description',
  ]
  if (manifest.private !== true) {
    faults.push(
      manifest.publishConfig?.access !== 'public' && 'is not published for all: `publishConfig.access`',
      manifest.files?.toSorted().join() !== PUBLISHED && `does not publish exactly ${PUBLISHED}: \`files\``,
    )
  }
  return faults.filter((fault) => fault !== false)
}

export const entryPoints: Law = {
  name: 'entry-points',
  says: `A package has a root entry and at most ${MOST_SUBPATHS} subpaths, each with its source, its types and its code.`,
  check: (tree) => products(tree).flatMap((each) => say(each, entryFaults(each, tree))),
}

function entryFaults({ folder, manifest }: Package, tree: Tree): string[] {
  const entries = Object.entries(manifest.exports ?? {}).filter(([path]) => path !== './package.json')
  const faults = entries.flatMap(([path, entry]) => {
    const { source = '', types, default: code } = typeof entry === 'string' ? {} : entry
    const stem = /^\.\/src\/(.+)\.ts$/.exec(source)?.[1]
    if (stem === undefined || !tree.files.includes(`${folder}/src/${stem}.ts`)) return [`${path} has no source file`]
    if (types !== `./dist/${stem}.d.ts` || code !== `./dist/${stem}.js`)
      return [`${path} does not lead to dist/${stem}`]
    return []
  })
  if (!entries.some(([path]) => path === '.')) faults.push('has no root entry')
  if (entries.length > MOST_SUBPATHS + 1) faults.push(`has ${entries.length - 1} subpaths`)
  return faults
}

export const publishedExports: Law = {
  name: 'published-exports',
  says: 'publishConfig.exports is exports without the `source` condition, which leads to files only this repository has.',
  check: (tree) =>
    products(tree)
      .filter(({ manifest }) => manifest.private !== true)
      .filter(
        ({ manifest }) => JSON.stringify(withoutSource(manifest)) !== JSON.stringify(manifest.publishConfig?.exports),
      )
      .flatMap((each) => say(each, ['publishConfig.exports is not exports without `source`'])),
}

function withoutSource(manifest: Manifest): unknown {
  const entries = Object.entries(manifest.exports ?? {}).map(([path, entry]) => {
    if (typeof entry === 'string') return [path, entry]
    return [path, Object.fromEntries(Object.entries(entry).filter(([condition]) => condition !== 'source'))]
  })
  return Object.fromEntries(entries)
}

export const wholeBuild: Law = {
  name: 'whole-build',
  says: 'The tsconfig.json at the root refers to each package, so `tsc -b` compiles all of them.',
  check: (tree) => {
    const text = tree.files.includes('tsconfig.json') ? tree.read('tsconfig.json') : ''
    return products(tree)
      .filter(({ folder }) => !text.includes(`"${folder}"`))
      .map(({ folder }) => ({ path: 'tsconfig.json', what: `does not refer to ${folder}` }))
  },
}

function products(tree: Tree): Package[] {
  return tree.packages.filter(({ folder }) => folder.startsWith('packages/'))
}

function say({ folder }: Package, faults: readonly string[]): Violation[] {
  return faults.map((what) => ({ path: `${folder}/package.json`, what }))
}
