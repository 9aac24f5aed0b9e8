/** The names in back quotes of documents, and the existing names. */
import { globSync, readFileSync } from 'node:fs'
import { blocksOf } from './blocks.ts'
import { pathOf, root } from './documents.ts'

const read = (path: string): string => readFileSync(pathOf(path), 'utf8')
const identifiersIn = (text: string): string[] => text.match(/[A-Za-z_$][\w$]{2,}/g) ?? []

/** Returns the code spans of a document, without fenced blocks. */
export function spansOf(text: string): string[] {
  const prose = text.replace(/^```.*?^```/gms, '')
  return [...prose.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map((match) => match[1] ?? '')
}

/** Returns the identifiers in code spans, without string literals, URLs, file names, command options and packages of others. */
export function namesIn(spans: readonly string[]): string[] {
  const plain = spans.map((span) =>
    span
      .replace(/'[^']*'|"[^"]*"/g, '')
      .replace(/^(?:npm|npx|node|cd|bun|deno) .*/, '')
      .replace(/https?:\S+|@(?!mcpx\/)[\w-]+\/[\w./-]+|[\w.-]+\/\S*|\b[\w-]+\.(?:mjs|ts|js|md|json)\b/g, '')
      .replace(/(?<![\w-])\d\w*/g, ''),
  )
  return [...new Set(plain.flatMap(identifiersIn))]
}

/** Returns the identifiers in the sources of packages, without comments and tests. */
export function shippedWords(): Set<string> {
  const sources = globSync('packages/*/src/**/*.ts', { cwd: root }).filter(
    (path) => !/\.(?:test|fixture)\.ts$/.test(path),
  )
  const code = sources.map((path) =>
    read(path)
      .replace(/\/\*.*?\*\//gs, '')
      .replace(/^\s*\/\/.*/gm, ''),
  )
  return new Set(code.flatMap(identifiersIn))
}

/** Returns the identifiers in the code blocks of a document. */
export function shownWords(document: string): Set<string> {
  return new Set(blocksOf(pathOf(document)).flatMap(({ text }) => identifiersIn(text)))
}

/** Returns the import specifiers of all packages, for example `@mcpx/auth/client`. */
export function entries(): Set<string> {
  const manifests = globSync('{packages,conformance,apps,apps/examples}/*/package.json', { cwd: root })
  return new Set(
    manifests.flatMap((path) => {
      const { name, exports } = JSON.parse(read(path)) as { name: string; exports?: object }
      return [name, ...Object.keys(exports ?? {}).map((key) => name + key.slice(1))]
    }),
  )
}

/** Returns the npm scripts of the repository. */
export function scripts(): string[] {
  return Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts)
}

/** Returns the stages of `npm test`. */
export function stages(): string[] {
  return (/export const stages = \{ (.+?) \}/.exec(read('scripts/stages.mjs'))?.[1] ?? '').split(', ')
}

/** Returns the names of all files of the repository. */
export function fileNames(): Set<string | undefined> {
  const files = globSync('{.ci,.changeset,apps,conformance,docs,packages,scripts}/**', {
    cwd: root,
    exclude: (path) => /node_modules|\.cache|dist$/.test(path),
  })
  return new Set([...globSync('*', { cwd: root }), ...files].map((path) => path.split('/').at(-1)))
}
