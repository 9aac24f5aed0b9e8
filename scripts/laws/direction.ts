/** Which package may know of which: everything points down, and nothing sideways. */
import { packageOf } from './imports.ts'
import type { Law, Violation } from './law.ts'
import { type Package, type SourceFile, shortName } from './tree.ts'

const OURS = '@mcpx/'

/** For each kind of package, what it may import of ours; tests may import `inTests` too. */
const levels: readonly { kind: RegExp; may: RegExp; inTests?: RegExp }[] = [
  { kind: /^(?:sse|protocol)$/, may: /^$/ },
  { kind: /^testkit$/, may: /^protocol$/ },
  { kind: /^(?:server|client|auth|transport-.+|store-.+|ext-.+)$/, may: /^(?:sse|protocol)$/, inTests: /^testkit$/ },
  { kind: /^cli$/, may: /^(?!testkit$)/ },
]

export const direction: Law = {
  name: 'direction',
  says: 'sse and protocol import no package of ours, level 1 imports only those two, testkit only protocol.',
  check: (tree) => tree.packages.filter((each) => each.folder.startsWith('packages/')).flatMap(checkPackage),
}

function checkPackage({ folder, sources }: Package): Violation[] {
  const own = shortName(folder)
  const level = levels.find(({ kind }) => kind.test(own))
  if (level === undefined) {
    return [{ path: `${folder}/package.json`, what: 'has no level: give it one in scripts/laws/direction.ts' }]
  }
  return sources.flatMap((source) =>
    oursIn(source)
      .filter(({ name }) => {
        if (name === own) return !source.isTest
        return !level.may.test(name) && !(source.isTest && level.inTests?.test(name))
      })
      .map(({ name, line }) => ({
        path: source.path,
        line,
        what: name === own ? 'imports its own package: import the defining file' : `imports ${OURS}${name}`,
      })),
  )
}

export const testkitInTests: Law = {
  name: 'testkit-in-tests',
  says: 'testkit is private: packages have it as a devDependency at most.',
  check: (tree) => tree.packages.filter((each) => each.folder.startsWith('packages/')).flatMap(checkTestkit),
}

function checkTestkit({ folder, manifest }: Package): Violation[] {
  const path = `${folder}/package.json`
  const name = `${OURS}testkit`
  if (manifest.name === name) return manifest.private === true ? [] : [{ path, what: 'is not private' }]
  const shipped = { ...manifest.dependencies, ...manifest.peerDependencies }
  return Object.hasOwn(shipped, name) ? [{ path, what: `has ${name} outside of devDependencies` }] : []
}

function oursIn(source: SourceFile): { name: string; line: number }[] {
  return source.imports.flatMap(({ specifier, line }) => {
    const name = packageOf(specifier)
    return name?.startsWith(OURS) ? [{ name: name.slice(OURS.length), line }] : []
  })
}
