/** What the official suite says of our server and our client, as a section of a document. */

import type { OfficialRecord, RunRecord } from '../../official/src/record.ts'
import { runs } from '../../official/src/runs.ts'
import { table } from './table.ts'

/** What is run beside the suite. */
const own: Readonly<Record<string, string>> = {
  pipe: 'the same server on a pipe, with our client of each era',
  broken: 'servers broken on purpose, in which the suite has to find a fault',
}

/** A line for each run, then each scenario that did not simply pass, with the reason. */
export function officialSection(record: OfficialRecord): string {
  const head = [
    'run',
    'what',
    'scenarios',
    'passed',
    'excused',
    'waiting',
    'checks passed',
    'failed',
    'warned',
    'skipped',
  ]
  return [
    '## By the official conformance suite\n',
    `\`@modelcontextprotocol/conformance\` ${record.suite} on ${record.date}, with Node ${record.node.slice(1)}: \`npm run conformance\`.\n`,
    table([head, ...record.runs.map(rowOf)]),
    '\nWhat is excused, and what waits for a package that is not written yet; checks of the latter are not counted:\n',
    table([['scenario', 'in', 'why'], ...othersOf(record)]),
  ].join('\n')
}

function rowOf({ run, scenarios, checks }: RunRecord): string[] {
  const { passed = 0, excused = 0, 'not yet': waiting = 0, failed = 0 } = scenarios
  const all = passed + excused + waiting + failed
  const choice = runs.find(({ name }) => name === run)?.choice.join(' ')
  const numbers = [all, passed, excused, waiting, checks.passed, checks.failed, checks.warned, checks.skipped]
  return [run, choice === undefined ? (own[run] ?? '') : `\`${choice}\``, ...numbers.map(String)]
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
