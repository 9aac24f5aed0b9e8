/** Reads the doc comments of all entries of the published packages, as TypeDoc sees them. */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, Comment, type DeclarationReflection, Logger, LogLevel, ReflectionKind } from 'typedoc'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Packages that other packages depend on come first, because a symbol is described in the package that declares it, and
 * only linked in other packages.
 */
const order = [
  'protocol',
  'json-schema',
  'sse',
  'server',
  'client',
  'transport-stdio',
  'transport-http',
  'auth',
  'toolset',
  'skills',
  'telemetry',
  'apps',
  'testing',
  'store-redis',
  'store-sqlite',
  'store-cloudflare',
]

/** An import path of a package, such as `@mcpx/auth/client`. */
export interface Entry {
  readonly package: string
  readonly name: string
  readonly file: string
}

export interface Reference {
  /** The symbols without a sentence, by the name of their package. */
  readonly undocumented: ReadonlyMap<string, readonly string[]>
  /** The warnings of TypeDoc, for example about a dead `@link`. */
  readonly warnings: readonly string[]
  /** Writes the site into a folder, whose contents it replaces. */
  write(folder: string): Promise<void>
}

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

export function readEntries(): Entry[] {
  const others = globSync('packages/*/package.json', { cwd: root }).map((file) => basename(dirname(file)))
  const names = [...new Set([...order, ...others.sort()])]
  return names.flatMap((name) => readEntriesOf(`packages/${name}`))
}

function readEntriesOf(folder: string): Entry[] {
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
  if (manifest.private) return []
  return Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
    if (typeof target === 'string' || target.source === undefined) return []
    return [{ package: manifest.name, name: manifest.name + subpath.slice(1), file: join(root, folder, target.source) }]
  })
}

export async function readReference(): Promise<Reference> {
  const entries = readEntries()
  const warnings: string[] = []
  const app = await Application.bootstrap({
    name: '@mcpx',
    entryPoints: entries.map(({ file }) => file.replaceAll('\\', '/')),
    tsconfig: join(root, 'apps/reference/tsconfig.json'),
    readme: join(root, 'apps/reference/front-page.md'),
    excludeExternals: true,
    excludeInternal: true,
    excludePrivate: true,
    // The stage `types` of `npm test` finds type errors.
    skipErrorChecking: true,
    sortEntryPoints: false,
    kindSortOrder: ['Module', 'Function', 'Class', 'Interface', 'TypeAlias', 'Variable', 'Reference'],
    groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', '*'],
    navigation: { includeFolders: false },
    hideGenerator: true,
    // Links to sources follow the `repository` of the packages, so that no git remote is needed.
    disableGit: true,
    sourceLinkTemplate: `${repositoryUrl()}/blob/main/packages/{path}#L{line}`,
    includeHierarchySummary: false,
    validation: { invalidLink: true, notExported: false, notDocumented: false },
  })
  app.logger = new CollectingLogger(warnings)
  const project = await app.convert()
  if (project === undefined) throw new Error(`TypeDoc cannot read the packages:\n${warnings.join('\n')}`)
  app.validate(project)
  const modules = project.getChildrenByKind(ReflectionKind.Module)
  const undocumented = new Map<string, string[]>(entries.map((entry) => [entry.package, []]))
  for (const [index, module] of modules.entries()) {
    const entry = entries[index]
    if (entry === undefined) throw new Error(`TypeDoc made a module without an entry: ${module.name}`)
    module.name = entry.name
    module.comment = new Comment([{ kind: 'text', text: firstComment(entry.file) }])
    undocumented.get(entry.package)?.push(...undocumentedIn(module).map((symbol) => `${entry.name}: ${symbol}`))
    describeSchemas(module)
  }
  return {
    undocumented,
    warnings,
    write: (folder) => app.generateDocs(project, folder),
  }
}

function repositoryUrl(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'packages/protocol/package.json'), 'utf8'))
  const { repository } = manifest as { repository: { url: string } }
  return repository.url.replace(/^git\+|\.git$/g, '')
}

class CollectingLogger extends Logger {
  readonly #messages: string[]

  constructor(messages: string[]) {
    super()
    this.#messages = messages
  }

  override log(message: string, level: LogLevel): void {
    super.log(message, level)
    if (level >= LogLevel.Warn) this.#messages.push(message.replaceAll(root, ''))
  }
}

/** Returns the comment at the top of a file, in one line. */
function firstComment(file: string): string {
  const [, text = ''] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(file, 'utf8')) ?? []
  return text.replace(/^\s*\* ?/gm, '').trim()
}

function undocumentedIn(module: DeclarationReflection): string[] {
  const symbols = (module.children ?? []).filter(({ kind }) => kind !== ReflectionKind.Reference)
  const documented = new Set(symbols.filter(isDocumented).map(({ name }) => name))
  const missing = symbols.filter(({ name }) => !documented.has(name)).map(({ name }) => name)
  const members = symbols.flatMap((symbol) =>
    membersOf(symbol)
      .filter((member) => needsComment(member) && !isDocumented(member))
      .map((member) => `${symbol.name}.${member.name}`),
  )
  return [...new Set(missing), ...members]
}

function membersOf({ kind, type, children = [] }: DeclarationReflection): DeclarationReflection[] {
  if (kind === ReflectionKind.TypeAlias && type?.type === 'reflection') return type.declaration.children ?? []
  return children
}

/** The comment of a class also describes its constructor. The `name` of an error is standard JavaScript. */
function needsComment({ kind, name, inheritedFrom, overwrites }: DeclarationReflection): boolean {
  if (kind === ReflectionKind.Constructor || inheritedFrom !== undefined || name.startsWith('~')) return false
  return !(name === 'name' && overwrites !== undefined)
}

function isDocumented(symbol: DeclarationReflection): boolean {
  const { type, signatures = [], getSignature } = symbol
  const functions = type?.type === 'reflection' ? (type.declaration.signatures ?? []) : []
  return [symbol, ...signatures, ...functions, getSignature].some((each) => each?.hasComment() === true)
}

/** A zod schema and its type share a name; only the type has a comment. */
function describeSchemas(module: DeclarationReflection): void {
  const symbols = module.children ?? []
  for (const schema of symbols) {
    if (schema.kind !== ReflectionKind.Variable || schema.hasComment()) continue
    const hasType = symbols.some(({ name, kind }) => name === schema.name && kind !== ReflectionKind.Variable)
    if (hasType) schema.comment = new Comment([{ kind: 'text', text: `The zod schema of \`${schema.name}\`.` }])
  }
}
