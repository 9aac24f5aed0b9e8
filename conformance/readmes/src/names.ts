/** What prose names in back quotes, and what there is to be named. */
import { globSync, readFileSync } from 'node:fs'
import { blocksOf } from './blocks.ts'
import { pathOf, root } from './documents.ts'

const read = (path: string): string => readFileSync(pathOf(path), 'utf8')
const identifiersIn = (text: string): string[] => text.match(/[A-Za-z_$][\w$]{2,}/g) ?? []

/** The code spans of a document, those in fenced blocks left out. */
export function spansOf(text: string): string[] {
  const prose = text.replace(/^```.*?^```/gms, '')
  return [...prose.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map((match) => match[1] ?? '')
}

/** The identifiers of code spans, without what is quoted in them, addresses, file names, options of commands and packages of others. */
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

/** The words of what is shipped: sources of packages, without their comments and tests. */
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

/** The words of the code that a document shows. */
export function shownWords(document: string): Set<string> {
  return new Set(blocksOf(pathOf(document)).flatMap(({ text }) => identifiersIn(text)))
}

/** `@mcpx/server`, `@mcpx/auth/client`: what can be imported. */
export function entries(): Set<string> {
  const manifests = globSync('{packages,conformance,apps,apps/examples}/*/package.json', { cwd: root })
  return new Set(
    manifests.flatMap((path) => {
      const { name, exports } = JSON.parse(read(path)) as { name: string; exports?: object }
      return [name, ...Object.keys(exports ?? {}).map((key) => name + key.slice(1))]
    }),
  )
}

/** The scripts of the repository, as `npm run` is told of them. */
export function scripts(): string[] {
  return Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts)
}

/** The stages of `npm test`. */
export function stages(): string[] {
  return (/export const stages = \{ (.+?) \}/.exec(read('scripts/stages.mjs'))?.[1] ?? '').split(', ')
}

/** The names of all files, wherever they are. */
export function fileNames(): Set<string | undefined> {
  const files = globSync('{.ci,.changeset,apps,conformance,docs,packages,scripts}/**', {
    cwd: root,
    exclude: (path) => /node_modules|\.cache|dist$/.test(path),
  })
  return new Set([...globSync('*', { cwd: root }), ...files].map((path) => path.split('/').at(-1)))
}
