/** What a tarball must hold and what it must not. */
import { posix } from 'node:path'
import type { Files, PackedManifest, Tarball } from './tarball.ts'

const forbidden: readonly (readonly [RegExp, string])[] = [
  [/\.(?:test(?:-d)?|fixture)\./, 'is a test'],
  [/(?:^|\/)(?:__tests__|fixtures|node_modules)\//, 'belongs to tests or tools'],
  [/\.tsbuildinfo$/, 'belongs to the compiler'],
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
    ...names.filter((name) => isStale(name, files)).map((name) => `${name} has no source: build again`),
    ...names.filter((name) => name.endsWith('.map')).flatMap((name) => mapFaults(name, files)),
    ...names.filter((name) => /^dist\/.*\.js$/.test(name)).flatMap((name) => codeFaults(name, files)),
    ...linkFaults(files),
    ...exportFaults(manifest, files),
    ...dependencyFaults(manifest),
  ]
}

/** The compiler does not remove what it once made from a source that is gone. */
function isStale(name: string, files: Files): boolean {
  const stem = /^dist\/(.+?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(name)?.[1]
  return stem !== undefined && !files.has(`src/${stem}.ts`)
}

function mapFaults(name: string, files: Files): string[] {
  const map = JSON.parse(files.get(name)?.toString() ?? '{}') as { sources?: string[]; sourceRoot?: string }
  return (map.sources ?? [])
    .map((source) => posix.join(posix.dirname(name), map.sourceRoot ?? '', source))
    .filter((source) => !files.has(source))
    .map((source) => `${name} points at ${source}, which is not in the tarball`)
}

function codeFaults(name: string, files: Files): string[] {
  const map = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(files.get(name)?.toString() ?? '')?.[1]
  const faults =
    map !== undefined && !files.has(posix.join(posix.dirname(name), map)) ? [`${name} has lost its source map`] : []
  return files.has(name.replace(/\.js$/, '.d.ts')) ? faults : [...faults, `${name} has no types`]
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
