/** What is supported, revision by revision: what the official suite says of it, and what official clients and servers do with it. */
import { eraOf, REVISIONS, type Revision } from '@mcpx/protocol'
import type { OfficialRecord } from '../../official/src/record.ts'
import type { ResultsRecord } from './record.ts'
import { table } from './table.ts'

/** A table with a line for each revision, the newest first. Throws when a run of the official suite is missing. */
export function revisionsSection(record: ResultsRecord, official: OfficialRecord): string {
  const rows = REVISIONS.toSorted()
    .reverse()
    .map((revision) => [
      revision,
      eraOf(revision),
      suiteCell('server', revision, official),
      suiteCell('client', revision, official),
      sdkCell('server', revision, record),
      sdkCell('client', revision, record),
    ])
  const head = ['revision', 'era', 'suite, our server', 'suite, our client', 'SDK, our server', 'SDK, our client']
  return [
    `One server and one client for all of them. The official conformance suite ${official.suite} was run on ${official.date} (\`npm run conformance\`):`,
    'its checks that passed. The official SDK, in both of its versions, was tried over stdio, HTTP and HTTP with SSE: what worked, of what was tried.\n',
    table([head, ...rows]),
    ...missing(official),
  ].join('\n')
}

function missing({ runs }: OfficialRecord): string[] {
  const left = runs.flatMap(({ others }) => others).filter(({ outcome }) => outcome === 'not yet')
  const names = new Set(left.map(({ scenario }) => scenario))
  const why = new Set(left.map((each) => each.why.replace('needs ', '')))
  if (names.size === 0) return []
  const what = [...why].map((each) => `\`${each}\``).join(', ')
  return [`\nNot counted: the ${names.size} scenarios for extensions that are not written yet (${what}).`]
}

/** The run of the suite for each revision that it knows. */
function suiteCell(role: 'server' | 'client', revision: Revision, { runs }: OfficialRecord): string {
  const names = [`${role}-${revision.slice(0, 4)}`, `${role}-${revision}-wire`]
  const run = ['2025-11-25', '2026-07-28'].includes(revision) ? names[0] : names[1]
  const found = runs.find((each) => each.run === run)
  if (found === undefined) {
    if (revision === '2024-11-05') return 'not covered'
    throw new Error(`The official suite was not run for ${run}: \`npm run conformance\` runs all of it`)
  }
  const { passed, failed, warned } = found.checks
  return `${passed} of ${passed + failed + warned}`
}

function sdkCell(ours: 'server' | 'client', revision: string, { ways }: ResultsRecord): string {
  const verdicts = ways
    .filter((way) => way.ours === ours && way.revision === revision)
    .flatMap((way) => Object.values(way.verdicts))
    .filter((status) => status !== 'absent')
  return verdicts.length === 0
    ? '–'
    : `${verdicts.filter((status) => status === 'passed').length} of ${verdicts.length}`
}
