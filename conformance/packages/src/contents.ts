/** What a tarball must hold and what it must not. */
import { posix } from 'node:path'
import type { Files, PackedManifest, Tarball } from './tarball.ts'

const forbidden: readonly (readonly [RegExp, string])[] = [
  [/\.(?:test(?:-d)?|fixture)\./, 'is a test'],
  [/(?:^|\/)(?:__tests__|fixtures|node_modules)\//, 'belongs to tests or tools'],
  [/\.tsbuildinfo$/, 'belongs to the compiler'],
  [/^src\/|(?<!\.d)\.ts$/, 'is a source: what is built from it is published'],
  [/\.map$/, 'is a map of sources that are not published'],
  [/(?:^|\/)\./, 'is hidden'],
]

/** The faults of what is in the tarball; `root` is a path of this machine that nothing may name. */
export function contentFaults({ files, manifest }: Tarball, root: string): string[] {
  const names = [...files.keys()]
  return [
    ...['LICENSE', 'README.md', 'package.json']
      .filter((name) => !files.get(name)?.length)
      .map((name) => `${name} is missing`),
    ...names.flatMap((name) => forbidden.filter(([pattern]) => pattern.test(name)).map(([, why]) => `${name} ${why}`)),
    ...names.filter((name) => files.get(name)?.includes(root)).map((name) => `${name} names a folder of this machine`),
    ...names
      .filter((name) => files.get(name)?.includes('sourceMappingURL'))
      .map((name) => `${name} names a source map`),
    ...strayCode(manifest, files).map((name) => `${name} is reached from no entry: build again`),
    ...twiceThere(files),
    ...linkFaults(files),
    ...exportFaults(manifest, files),
    ...dependencyFaults(manifest),
  ]
}

/** The builds do not remove what older ones made. */
function strayCode({ exports }: PackedManifest, files: Files): string[] {
  const entries = Object.values(exports ?? {}).flatMap((entry) =>
    typeof entry === 'string' ? entry : Object.values(entry),
  )
  const reached = new Set(entries.map((entry) => posix.normalize(entry)))
  for (const name of reached) {
    const code = files.get(name)?.toString() ?? ''
    for (const [, path = ''] of code.matchAll(/(?:from |import\()"(\.\.?\/[^"]+)"/g))
      reached.add(posix.join(posix.dirname(name), path))
  }
  return [...files.keys()].filter((name) => /^dist\/.*\.js$/.test(name) && !reached.has(name))
}

/** A module that is in two files has its classes and its state twice, one for each entry that leads to it. */
function twiceThere(files: Files): string[] {
  const places = new Map<string, string[]>()
  for (const [name, text] of files) {
    if (!name.endsWith('.js')) continue
    for (const [, source = ''] of text.toString().matchAll(/^\/\/ (src\/.*)$/gm))
      places.set(source, [...(places.get(source) ?? []), name])
  }
  return [...places]
    .filter(([, names]) => names.length > 1)
    .map(([source, names]) => `${source} is in ${names.join(' and ')}`)
}

/** Who reads a README in a registry has nothing but the package. */
function linkFaults(files: Files): string[] {
  const links = [...(files.get('README.md')?.toString() ?? '').matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
  return links
    .map((match) => match[1] ?? '')
    .filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link) && !files.has(posix.normalize(link)))
    .map((link) => `README.md links to ${link}, which is not in the tarball`)
}

function exportFaults({ exports }: PackedManifest, files: Files): string[] {
  return Object.entries(exports ?? {}).flatMap(([path, entry]) => {
    const targets = typeof entry === 'string' ? { default: entry } : entry
    const faults = Object.entries(targets)
      .filter(([, target]) => !files.has(posix.normalize(target)))
      .map(([condition, target]) => `the entry ${path} leads to ${target} (${condition}), which is not in the tarball`)
    if (Object.hasOwn(targets, 'source')) faults.push(`the entry ${path} has a \`source\` condition`)
    if (path !== './package.json' && !Object.hasOwn(targets, 'types')) faults.push(`the entry ${path} has no types`)
    return faults
  })
}

function dependencyFaults({ dependencies, peerDependencies }: PackedManifest): string[] {
  return Object.entries({ ...dependencies, ...peerDependencies })
    .filter(([, range]) => /^(?:workspace|catalog|link|file|git|https?):/.test(range))
    .map(([name, range]) => `depends on ${name} as ${range}, which nobody else can install`)
}
