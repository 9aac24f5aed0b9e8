/** Rules for the contents of a tarball. */
import { posix } from 'node:path'
import type { Files, PackedManifest, Tarball } from './tarball.ts'

const forbidden: readonly (readonly [RegExp, string])[] = [
  [/\.(?:test(?:-d)?|fixture)\./, 'is a test'],
  [/(?:^|\/)(?:__tests__|fixtures|node_modules)\//, 'belongs to tests or tools'],
  [/\.tsbuildinfo$/, 'belongs to the compiler'],
  [/(?:^|\/)\./, 'is hidden'],
]

/** Returns the faults of a tarball; `root` is the path of the repository, which no file may contain. */
export function contentFaults({ files, manifest }: Tarball, root: string): string[] {
  const names = [...files.keys()]
  return [
    ...['LICENSE', 'README.md', 'package.json']
      .filter((name) => !files.get(name)?.length)
      .map((name) => `${name} is missing`),
    // Projects that are made of templates have tests of their own.
    ...names
      .filter((name) => !name.startsWith('templates/'))
      .flatMap((name) => forbidden.filter(([pattern]) => pattern.test(name)).map(([, reason]) => `${name} ${reason}`)),
    ...names
      .filter((name) => files.get(name)?.includes(root))
      .map((name) => `${name} contains a path of the build machine`),
    ...mapFaults(files),
    ...unreachableCode(manifest, files).map(
      (name) => `${name} is not reached from any entry: delete dist and build again`,
    ),
    ...linkFaults(files),
    ...exportFaults(manifest, files),
    ...programFaults(manifest, files),
    ...versionFaults(manifest, files),
    ...dependencyFaults(manifest),
  ]
}

/** Checks that code and types have source maps that refer to published sources, for stack traces and "go to definition". */
function mapFaults(files: Files): string[] {
  const built = [...files.keys()].filter((name) => /^dist\/.*\.(?:js|d\.ts)$/.test(name))
  return built.flatMap((name) => {
    const code = files.get(name)?.toString() ?? ''
    if (!/sourceMappingURL=/.test(code)) return isFacade(code) ? [] : [`${name} has no source map`]
    const map = files.get(`${name}.map`)
    if (map === undefined) return [`${name}.map is missing`]
    const { sources } = JSON.parse(map.toString()) as { sources: readonly string[] }
    return sources
      .map((source) => posix.join(posix.dirname(name), source))
      .filter((source) => !files.has(source))
      .map((source) => `${name}.map refers to ${source}, which is not in the tarball: delete dist and build again`)
  })
}

/** Whether a file only imports and exports, and therefore needs no source map. */
function isFacade(code: string): boolean {
  return code.replace(/^(?:import\b|export \{)[^;]*;$|^\/\/.*$/gm, '').trim() === ''
}

/** Returns the files that no entry and no program imports. They remain from older builds. */
function unreachableCode({ exports, bin }: PackedManifest, files: Files): string[] {
  const entries = Object.values(exports ?? {}).flatMap((entry) =>
    typeof entry === 'string' ? entry : Object.values(entry),
  )
  const reached = new Set([...entries, ...Object.values(bin ?? {})].map((entry) => posix.normalize(entry)))
  for (const name of reached) {
    const code = files.get(name)?.toString() ?? ''
    for (const [, path = ''] of code.matchAll(/(?:from |import ?\(?)"(\.\.?\/[^"]+)"/g))
      reached.add(posix.join(posix.dirname(name), path))
  }
  return [...files.keys()].filter((name) => /^dist\/.*\.js$/.test(name) && !reached.has(name))
}

/** Checks relative links of the README, which must work inside the package. */
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
      .map(([condition, target]) => `the entry ${path} refers to ${target} (${condition}), which is not in the tarball`)
    if (Object.hasOwn(targets, 'source')) faults.push(`the entry ${path} has a \`source\` condition`)
    if (path !== './package.json' && !Object.hasOwn(targets, 'types')) faults.push(`the entry ${path} has no types`)
    return faults
  })
}

function programFaults({ bin }: PackedManifest, files: Files): string[] {
  return Object.entries(bin ?? {})
    .filter(([, path]) => !files.get(posix.normalize(path))?.toString().startsWith('#!/usr/bin/env node\n'))
    .map(
      ([name, path]) =>
        `the program ${name} refers to ${path}, which is not in the tarball or does not begin with #!/usr/bin/env node`,
    )
}

/** Checks that JavaScript which contains the version of its package was built after the version was set. */
function versionFaults({ version }: PackedManifest, files: Files): string[] {
  const contains = (folder: string, text: string): boolean =>
    [...files].some(([name, bytes]) => name.startsWith(folder) && bytes.includes(text))
  if (!contains('src/', 'PACKAGE_VERSION') || contains('dist/', JSON.stringify(version))) return []
  return [`dist does not contain the version ${version}: build after the version is set`]
}

function dependencyFaults({ dependencies, peerDependencies }: PackedManifest): string[] {
  return Object.entries({ ...dependencies, ...peerDependencies })
    .filter(([, range]) => /^(?:workspace|catalog|link|file|git|https?):/.test(range))
    .map(([name, range]) => `depends on ${name} as ${range}, which cannot be installed from a registry`)
}
