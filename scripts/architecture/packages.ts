/** Rules for packages: allowed imports, the use of Node, and the content of package.json. */
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { type Manifest, type Package, packageOf, type Rule, type SourceFile, type Violation } from './repository.ts'

/**
 * The packages of this repository that each kind of package may import. Tests may also import the packages in
 * `inTests`.
 */
const directions: readonly { kind: RegExp; may: RegExp; inTests?: RegExp }[] = [
  { kind: /^(?:sse|json-schema|protocol)$/, may: /^$/ },
  { kind: /^toolset$/, may: /^json-schema$/, inTests: /^(?:client|server)$/ },
  // Extensions use the public interface of the server, and no other part of it.
  { kind: /^tasks$/, may: /^(?:protocol|server)$/, inTests: /^(?:client|testing|store-.+|transport-.+)$/ },
  { kind: /^apps$/, may: /^(?:protocol|server)$/, inTests: /^client$/ },
  { kind: /^cli$/, may: /^/ },
  { kind: /^create-mcpx$/, may: /^$/ },
  { kind: /^telemetry$/, may: /^protocol$/, inTests: /^(?:client|server|tasks|transport-.+)$/ },
  { kind: /^testing$/, may: /^(?:client|protocol)$/, inTests: /^(?:json-schema|server)$/ },
  { kind: /^skills$/, may: /^protocol$/, inTests: /^(?:client|server|toolset)$/ },
  {
    kind: /^(?:server|client|auth|transport-.+|store-.+)$/,
    may: /^(?:sse|json-schema|protocol)$/,
    inTests: /^testing$/,
  },
]

export const direction: Rule = {
  name: 'direction',
  says: 'packages import only the packages of ours that the table of directions allows.',
  check: ({ packages }) => packages.flatMap(checkDirection),
}

function checkDirection({ name, folder, sources }: Package): Violation[] {
  const allowed = directions.find(({ kind }) => kind.test(name))
  if (allowed === undefined) {
    return [{ path: folder, what: 'has no direction: add it to `directions` in scripts/architecture/packages.ts' }]
  }
  return sources.flatMap(({ path, isTest, imports }) =>
    imports
      .map(({ specifier, line }) => ({ imported: /^@mcpx\/([^/]+)/.exec(specifier)?.[1], line }))
      .filter(({ imported }) => imported !== undefined && !allowed.may.test(imported))
      .filter(({ imported = '' }) => !(isTest && (imported === name || allowed.inTests?.test(imported))))
      .map(({ imported, line }) => ({ path, line, what: `imports @mcpx/${imported}` })),
  )
}

export const eras: Rule = {
  name: 'eras',
  says: 'A source named modern* (or in such a folder) does not import one named legacy*, and the reverse.',
  check: ({ packages }) =>
    packages.flatMap(({ sources }) => sources.filter(({ isTest }) => !isTest).flatMap(checkEras)),
}

function checkEras({ path, imports }: SourceFile): Violation[] {
  const own = eraOf(path)
  if (own === undefined) return []
  return imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, line }) => ({ specifier, line, era: eraOf(posix.join(posix.dirname(path), specifier)) }))
    .filter(({ era }) => era !== undefined && era !== own)
    .map(({ specifier, line, era }) => ({ path, line, what: `imports ${specifier}, which is of the ${era} era` }))
}

function eraOf(path: string): string | undefined {
  return /\/src\/(?:.*\/)?(legacy|modern)(?![a-z])/.exec(path)?.[1]
}

export const dependencies: Rule = {
  name: 'dependencies',
  says: 'A shipped source imports only what the package.json lists in dependencies or peerDependencies. A bundled page may use devDependencies.',
  check: ({ packages }) => packages.flatMap(checkDependencies),
}

/** The sources of pages, whose build contains their libraries. */
const bundled = /^packages\/cli\/src\/inspect\/page\//

function checkDependencies({ manifest, sources }: Package): Violation[] {
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies }
  const declaredForPages = { ...declared, ...manifest.devDependencies }
  return sources
    .filter(({ isTest }) => !isTest)
    .flatMap(({ path, imports }) =>
      imports
        .map(({ specifier, line }) => ({ imported: packageOf(specifier), line }))
        .filter(({ imported }) => imported !== undefined && imported !== manifest.name)
        .filter(({ imported = '' }) => !Object.hasOwn(bundled.test(path) ? declaredForPages : declared, imported))
        .map(({ imported, line }) => ({ path, line, what: `imports ${imported}, which is not a dependency` })),
    )
}

/** The packages that use Node, and in which of their files (below `src`). */
const nodeFiles: Readonly<Record<string, RegExp>> = {
  apps: /^node\.ts$/,
  auth: /^node(?:\.ts$|\/)/,
  skills: /^node(?:\.ts$|\/)/,
  'store-sqlite': /^node\.ts$/,
  telemetry: /^node\.ts$/,
  'transport-stdio': /^/,
  cli: /^/,
  'create-mcpx': /^/,
  testing: /^node\.ts$/,
  'transport-http': /^node(?:\.ts$|\/)/,
}

export const neutral: Rule = {
  name: 'neutral',
  says: 'Packages run on every runtime: Node modules and types only in the files listed in scripts/architecture/packages.ts.',
  check: ({ packages, files, read }) => [
    ...packages.flatMap(checkRuntime),
    ...files
      .filter((path) => /^packages\/[^/]+\/tsconfig[^/]*\.json$/.test(path) && !mayUseNode(path))
      .filter((path) => /"(?:types|lib)"\s*:/.test(read(path)))
      .map((path) => ({ path, what: 'sets `types` or `lib`, which tsconfig.base.json sets for all packages' })),
  ],
}

function checkRuntime({ name, folder, sources }: Package): Violation[] {
  return sources
    .filter(({ path, isTest }) => !isTest && !nodeFiles[name]?.test(path.slice(`${folder}/src/`.length)))
    .flatMap(({ path, text, imports }) => [
      ...imports
        .filter(({ specifier }) => isBuiltin(specifier))
        .map(({ specifier, line }) => ({ path, line, what: `imports ${specifier}` })),
      // A part of the language's own library (`lib="es..."`) is neutral.
      ...(/<reference\s+(?:types|lib="(?!es))/.test(text) ? [{ path, what: 'references types of a runtime' }] : []),
    ])
}

/** A package that uses Node in some files has a tsconfig.node.json for them. */
function mayUseNode(path: string): boolean {
  const [, name = '', file] = path.split('/')
  const files = nodeFiles[name]
  return files !== undefined && (files.test('') || file === 'tsconfig.node.json')
}

const published = [
  'dist',
  'src',
  '!dist/*.tsbuildinfo',
  '!src/**/*.test.ts',
  '!src/**/*.test-d.ts',
  '!src/**/*.fixture.ts',
]

export const manifests: Rule = {
  name: 'manifests',
  says: 'A package.json is complete, publishes the build and the sources, and exports the same inside and outside of the repository.',
  check: ({ packages, files, read }) =>
    packages.flatMap((each) => {
      const isBuilt = files.includes('tsconfig.json') && read('tsconfig.json').includes(`"${each.folder}"`)
      const faults = [...manifestFaults(each), ...entryFaults(each, files)]
      if (!isBuilt) faults.push('is not referenced by the tsconfig.json at the root')
      return faults.map((what) => ({ path: `${each.folder}/package.json`, what }))
    }),
}

function manifestFaults({ name, manifest }: Package): string[] {
  const isPublic = manifest.private !== true
  // `npm create mcpx` runs the package create-mcpx, which also publishes its templates.
  const isCreator = name === 'create-mcpx'
  const files = [...published, 'README.md', 'LICENSE', ...(isCreator ? ['templates'] : [])]
  const faults: (string | false)[] = [
    manifest.name !== (isCreator ? name : `@mcpx/${name}`) && `is named ${manifest.name}`,
    manifest.type !== 'module' && 'has no `type: module`',
    !hasKnownSideEffects(manifest) &&
      'has no `sideEffects: false`, or a list that is not of its entries: `["./src/x.ts", "./dist/x.js"]`',
    manifest.engines?.node === undefined && 'has no `engines.node`',
    !manifest.license && 'has no `license`',
    !manifest.description && 'has no `description`',
    isPublic &&
      !(manifest.author && manifest.homepage && manifest.repository && manifest.bugs) &&
      'has no `author`, `homepage`, `repository` or `bugs`: run `node scripts/set-repository.mjs`',
    isPublic && manifest.publishConfig?.access !== 'public' && 'has no `publishConfig.access: public`',
    isPublic && manifest.files?.join() !== files.join() && `has other \`files\` than ${JSON.stringify(files)}`,
    isPublic &&
      JSON.stringify(manifest.publishConfig?.exports) !== JSON.stringify(exportsWithoutSource(manifest)) &&
      'has a `publishConfig.exports` that is not `exports` without the `source` conditions',
  ]
  return faults.filter((fault) => fault !== false)
}

/** Only an entry that is imported for its side effect may be listed. The list contains its source and its build. */
function hasKnownSideEffects({ sideEffects, exports = {} }: Manifest): boolean {
  if (!Array.isArray(sideEffects)) return sideEffects === false
  const files = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : Object.values(entry)))
  return sideEffects.every((file) => files.includes(file) && !/\/index\.\w+$/.test(file))
}

function entryFaults({ folder, manifest }: Package, files: readonly string[]): string[] {
  const entries = Object.entries(manifest.exports ?? {}).filter(([path]) => path !== './package.json')
  const faults = entries.flatMap(([path, entry]) => {
    const { source = '', types, default: code } = typeof entry === 'string' ? {} : entry
    const stem = /^\.\/src\/(.+)\.ts$/.exec(source)?.[1]
    if (stem === undefined || !files.includes(`${folder}/src/${stem}.ts`))
      return [`has no source for the entry ${path}`]
    const isBuilt = types === `./dist/${stem}.d.ts` && code === `./dist/${stem}.js`
    return isBuilt ? [] : [`has an entry ${path} that does not refer to dist/${stem}`]
  })
  return entries.some(([path]) => path === '.') ? faults : [...faults, 'has no root entry']
}

function exportsWithoutSource({ exports = {} }: Manifest): unknown {
  const entries = Object.entries(exports).map(([path, entry]) => {
    if (typeof entry === 'string') return [path, entry]
    return [path, Object.fromEntries(Object.entries(entry).filter(([condition]) => condition !== 'source'))]
  })
  return Object.fromEntries(entries)
}

export const finished: Rule = {
  name: 'finished',
  says: 'Shipped sources contain no TODO, no FIXME, and no comment that switches off the compiler or a lint rule of docs/STYLE.md.',
  check: ({ packages }) =>
    packages
      .flatMap(({ sources }) => sources.filter(({ isTest }) => !isTest))
      .flatMap(({ path, text }) =>
        text
          .split('\n')
          .map((content, index) => ({
            path,
            line: index + 1,
            found: (unfinished.exec(content) ?? suppressed.exec(content))?.[0],
          }))
          .filter(({ found }) => found !== undefined)
          .map(({ found, ...place }) => ({ ...place, what: `contains ${found}` })),
      ),
}

const unfinished = /@ts-(?:ignore|expect-error|nocheck)|\b(?:TODO|FIXME|XXX)\b/

/** A suppression of a required rule, of a group of rules, or of all rules. */
const suppressed =
  /biome-ignore[^:]*? lint(?:\/\w+(?:\/(?:noExplicitAny|noReExportAll|noDefaultExport|noImportCycles|useImportType|noFloatingPromises|noMisusedPromises))?)?(?=[:\s])/
