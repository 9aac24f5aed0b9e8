/** Writes `.cache/spec-support.md`, which lists the tests of each requirement. `node conformance/requirements/src/spec-support.ts` */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Citation, readCitations, root } from './citations.ts'
import { isMust, isTestable, type Requirement, type Section, sections } from './requirements.ts'

const document = '.cache/spec-support.md'

const levels: Readonly<Record<string, string>> = {
  M: 'must',
  MN: 'must not',
  S: 'should',
  SN: 'should not',
  O: 'may',
  D: 'own choice',
}

const INTRODUCTION = `# Support of the specification

The requirements of [the specification](https://modelcontextprotocol.io/specification) for servers and clients, and their tests.
A test cites a requirement by its id at the end of its title. In complete sections, \`conformance/requirements/src/coverage.test.ts\`
requires at least one citation for each "must" and "must not".

"Author" marks requirements that only the author of a server or a client can fulfil.

The extension for tasks (C-170 to C-176, X-01 to X-14) is not implemented yet and not listed.
`

/** Returns the document. */
function writeSupport(citations: readonly Citation[]): string {
  const cited = new Map<string, Citation[]>()
  for (const each of citations) cited.set(each.id, [...(cited.get(each.id) ?? []), each])
  const head = ['section', 'title', 'musts tested', 'all tested', 'complete']
  const summary = table([head, ...sections.map((section) => summaryOf(section, cited))])
  return `${INTRODUCTION}\n${summary}\n${sections.map((each) => tableOf(each, cited)).join('')}`
}

/** Formats a Markdown table; the first row is the header. */
function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => [...(row[column] ?? '')].length)))
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}

type Cited = ReadonlyMap<string, readonly Citation[]>

function summaryOf({ section, title, complete, requirements }: Section, cited: Cited): string[] {
  const testable = requirements.filter(isTestable)
  const share = (some: readonly Requirement[]) =>
    some.length === 0 ? '–' : `${some.filter(({ id }) => cited.has(id)).length} of ${some.length}`
  return [section, title, share(testable.filter(isMust)), share(testable), complete ? 'yes' : '']
}

function tableOf({ section, title, requirements }: Section, cited: Cited): string {
  const rows = requirements.map((each) => [each.id, levelOf(each), each.text, testsOf(each, cited)])
  return `\n## ${section} ${title}\n\n${table([['id', 'level', 'requirement', 'tests'], ...rows])}\n`
}

function levelOf({ level }: Requirement): string {
  return level
    .split('/')
    .map((part) => levels[part] ?? part)
    .join(', ')
}

function testsOf({ id, concern, reason }: Requirement, cited: Cited): string {
  const files = new Set((cited.get(id) ?? []).map(({ path }) => path))
  const links = [...files].map((path) => `[${shortened(path)}](../${path})`)
  if (concern === 'author') links.unshift(reason === undefined ? 'author' : `author: ${reason}`)
  return links.length > 0 ? links.join(', ') : 'not yet'
}

function shortened(path: string): string {
  return path
    .replace(/^(?:packages|conformance)\//, '')
    .replace(/\/src\//, '/')
    .replace(/\.test\.ts$/, '')
}

const path = join(root, document)
mkdirSync(dirname(path), { recursive: true })
writeFileSync(path, writeSupport(readCitations()))
console.log(document)
