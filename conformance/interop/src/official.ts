/** What the official suite says of our server and our client, as a section of a document. */

import type { OfficialRecord, RunRecord } from '../../official/src/record.ts'
import { runs } from '../../official/src/runs.ts'
import { table } from './table.ts'

/** What is run beside the suite. */
const own: Readonly<Record<string, string>> = {
  pipe: 'the same server on a pipe, with our client of each era',
  streams: 'the same server, with streams for all answers',
  broken: 'servers broken on purpose, in which the suite has to find just that, and two that are whole',
}

/** A line for each run, then each scenario that did not simply pass, with the reason. */
export function officialSection(record: OfficialRecord): string {
  const head = [
    'run',
    'what',
    'scenarios',
    'scored',
    'passed',
    'excused',
    'waiting',
    'checks passed',
    'failed',
    'warned',
    'skipped',
    'tries',
  ]
  return [
    '## By the official conformance suite\n',
    `\`@modelcontextprotocol/conformance\` ${record.suite} on ${record.date}, with Node ${record.node.slice(1)}: \`npm run conformance\`.\n`,
    table([head, ...record.runs.map(rowOf)]),
    ...againOf(record),
    '\nIn the runs on one wire all that is sent has to name that revision and no other; there the client that the suite uses, which asks for its',
    'newest by itself, is made to ask for that of the run.',
    '\n"Scored" are the scenarios that a revision requires. A run is made again only when the suite itself stood still for longer than it',
    'gives a server to answer, and shows it. What is excused, and what waits for a package that is not written yet; checks of the latter are not counted:\n',
    table([['scenario', 'in', 'why'], ...othersOf(record)]),
  ].join('\n')
}

function rowOf({ run, scenarios, checks, scored, tries }: RunRecord): string[] {
  const { passed = 0, excused = 0, 'not yet': waiting = 0, failed = 0 } = scenarios
  const all = passed + excused + waiting + failed
  const choice = runs.find(({ name }) => name === run)?.choice.join(' ')
  const score = scored === undefined ? '' : `${scored.passed} of ${scored.needed}`
  const numbers = [passed, excused, waiting, checks.passed, checks.failed, checks.warned, checks.skipped, tries]
  const what = choice === undefined ? (own[run] ?? '') : `\`${choice}\``
  return [run, what, String(all), score, ...numbers.map(String)]
}

/** What failed before a run was made again. */
function againOf({ runs }: OfficialRecord): string[] {
  const lines = runs.flatMap(({ run, again = [] }) =>
    again.map((what) => `- ${run}, in a try before the last: ${what}`),
  )
  return lines.length === 0 ? [] : [['', ...lines].join('\n')]
}

/** What is the same in several runs is said once. */
function othersOf({ runs }: OfficialRecord): string[][] {
  const all = new Map<string, { why: string; names: string[] }>()
  for (const { run, others } of runs) {
    for (const { scenario, why } of others) {
      const known = all.get(scenario) ?? { why, names: [] }
      known.names.push(run)
      all.set(scenario, known)
    }
  }
  return [...all].map(([scenario, { why, names }]) => [scenario, names.join(', '), why])
}
