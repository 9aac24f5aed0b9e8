/** Generates the section on speed and size of the README from results.json. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Maker } from './case.ts'
import { cases } from './cases.ts'
import { markdownTable } from './markdown-table.ts'
import { type Results, readRecord } from './record.ts'

const readme = fileURLToPath(new URL('../../../README.md', import.meta.url))

const BEGIN = '<!-- begin: speed -->'
const END = '<!-- end: speed -->'

const makers: readonly (readonly [Maker, name: string, packageName?: string])[] = [
  ['ours', '@mcpx'],
  ['official 2', 'official', '@modelcontextprotocol/server'],
  ['official 1', 'official', '@modelcontextprotocol/sdk'],
  ['mcp-lite', 'mcp-lite', 'mcp-lite'],
  ['tmcp', 'tmcp', 'tmcp'],
  ['bare', 'without an SDK'],
]

/** The numbers in the README: speed, memory and size. */
const FIGURES: readonly string[] = [
  'calls over HTTP, JSON responses, × bare',
  'heap of an idle session, kB',
  'edge server with a tool of zod, kB gzipped',
  'edge server with a tool of zod, CPU ms to start',
  'client over HTTP, kB gzipped',
]

/** Writes the section if the README has its markers; returns a message. */
export function writeSummary(): string {
  const text = readFileSync(readme, 'utf8')
  if (!text.includes(BEGIN)) return `README.md has no place for the summary: put ${BEGIN} and ${END} where it belongs`
  writeFileSync(
    readme,
    withSummary(
      text,
      summarySection(
        readRecord(),
        cases.map(({ name }) => name),
      ),
    ),
  )
  return 'The summary in README.md is written'
}

export function withSummary(text: string, section: string): string {
  const [start, stop] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (start < 0 || stop < start) throw new Error(`README.md has "${BEGIN}" but no "${END}" after it`)
  return `${text.slice(0, start)}${BEGIN}\n\n${section}\n\n${text.slice(stop)}`
}

/** Returns a line for each number and a column for each maker. */
export function summarySection(
  record: Results,
  order: readonly string[],
  figures: readonly string[] = FIGURES,
): string {
  const known = order.flatMap((name) => record[name] ?? [])
  const [latest] = known.toSorted((a, b) => (a.date < b.date ? 1 : -1))
  if (latest === undefined) return 'Nothing was measured yet: `npm run bench -- --write`.'
  const lines = known.flatMap(({ summary = [] }) => summary).filter(({ what }) => figures.includes(what))
  const header = ['', ...makers.map(([, name, packageName]) => nameOf(name, packageName, latest.packages))]
  const rows = lines.map(({ what, cells }) => [what, ...makers.map(([maker]) => cells[maker] ?? '')])
  const units =
    '"× bare" is the number of calls per second, divided by that of a minimal node:http server in the same run. ' +
    'The column "without an SDK" shows servers that use only node:http or only Hono. ' +
    'If several servers with the same SDK were measured, their cell shows the lowest and the highest value. ' +
    'The sizes are of whole bundles, and the start is the processor time of loading the bundle.'
  const about =
    `Measured on ${latest.date}: ${latest.machine}. ` +
    '[The benchmark](apps/bench/README.md) describes all cases and how they are measured.'
  return [units, markdownTable(header, rows, 1), about].join('\n\n')
}

function nameOf(name: string, packageName: string | undefined, versions: Readonly<Record<string, string>>): string {
  const version = packageName === undefined ? undefined : versions[packageName]
  return version === undefined ? name : `${name} ${version}`
}
