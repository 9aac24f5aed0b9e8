/** How the two eras are kept apart, so that one of them can be deleted. */
import { posix } from 'node:path'
import type { Law, Violation } from './law.ts'
import type { SourceFile } from './tree.ts'

export const eraFiles: Law = {
  name: 'era-files',
  says: 'Only select.ts imports legacy* and modern* files; a legacy* file may import legacy*, a modern* file modern*.',
  check: (tree) =>
    tree.sources.filter((source) => source.path.startsWith('packages/')).flatMap((source) => checkImports(source)),
}

function checkImports(source: SourceFile): Violation[] {
  const from = eraOfPath(source.path)
  if (/^select(?:\.test)?\.ts$/.test(posix.basename(source.path))) return []
  return source.imports.flatMap(({ specifier, line }) => {
    if (!specifier.startsWith('.')) return []
    const to = eraOfPath(posix.join(posix.dirname(source.path), specifier))
    if (to === undefined || to === from) return []
    return [{ path: source.path, line, what: `imports ${specifier}: go through select.ts` }]
  })
}

/** The era whose deletion would delete this file: a file or a folder below `src` is named after it. */
function eraOfPath(path: string): string | undefined {
  const below = path.split('/src/')[1] ?? path
  return below
    .split('/')
    .map((part) => /^(legacy|modern)(?![a-z])/.exec(part)?.[1])
    .find((era) => era !== undefined)
}

export const modernEntries: Law = {
  name: 'modern-entries',
  says: 'An entry modern.ts, or modern-*.ts, reaches no select.ts of its package, which knows both eras: bundles of it hold one.',
  check: (tree) => {
    const sources = new Map(tree.sources.map((source) => [source.path, source]))
    return [...sources.values()]
      .filter(({ path }) => /^packages\/[^/]+\/src\/modern(?:-[\w-]+)?\.ts$/.test(path))
      .flatMap((entry) => strayFrom(entry, sources))
  },
}

/** Follows the imports of a file within its package, in their order. */
function strayFrom(entry: SourceFile, sources: ReadonlyMap<string, SourceFile>): Violation[] {
  const reached = new Set([entry])
  const strays: Violation[] = []
  for (const source of reached) {
    for (const { specifier, line } of source.imports) {
      if (!specifier.startsWith('.')) continue
      const path = posix.join(posix.dirname(source.path), specifier)
      const next = sources.get(path)
      if (posix.basename(path) === 'select.ts')
        strays.push({ path: source.path, line, what: `imports ${specifier}, and ${entry.path} reaches it` })
      else if (next !== undefined) reached.add(next)
    }
  }
  return strays
}

const DATE = /\b20\d\d-[01]\d-[0-3]\d\b/
const mayNameRevisions = /^packages\/(?:protocol\/src\/versions\.ts$|[^/]+\/src\/(?:.+\/)?eras\/|testkit\/)/

export const revisionLiterals: Law = {
  name: 'revision-literals',
  says: 'A protocol revision is written out only in packages/protocol/src/versions.ts, below eras/, and in tests.',
  check: (tree) =>
    tree.sources
      .filter(({ path, isTest }) => /^packages\/[^/]+\/src\//.test(path) && !isTest && !mayNameRevisions.test(path))
      .flatMap(({ path, code }) =>
        code
          .filter(({ kind, text }) => (kind === 'string' || kind === 'template') && DATE.test(text))
          .map(({ line, text }) => ({ path, line, what: `says '${text}': name the constant of versions.ts` })),
      ),
}
