/** Measures the contestants of a case in turns with drivers, and returns a table. */
import { fileURLToPath } from 'node:url'
import type { Column, Contestant, Findings, RunOptions, ServedCase, Target, Verdict } from './case.ts'
import { leastDisturbed, readChild } from './child-process.ts'
import type { Sample } from './driver/job.ts'
import { loadCore } from './machine.ts'
import { compared, type Rounds, takeTurns } from './rounds.ts'
import { fixed, median, withRange } from './statistics.ts'
import { summaryOf } from './summary.ts'

const driver = fileURLToPath(new URL('driver/main.ts', import.meta.url))

export async function runServed(served: ServedCase, options: RunOptions): Promise<Findings> {
  const rounds = Math.min(options.rounds, served.mostRounds ?? options.rounds)
  const measure = (name: string): Promise<Sample> => {
    const job = JSON.stringify(served.contestants.find((each) => each.name === name)?.job(options))
    return leastDisturbed(options.isQuick ? 1 : undefined, () =>
      readChild<Sample>(['--max-semi-space-size=64', driver, job], loadCore),
    )
  }
  const found = await takeTurns(served.contestants, rounds, measure, (round, seconds) =>
    options.note(`${served.name}: round ${round + 1} of ${rounds} (${fixed(seconds, 0)} s)`),
  )
  return findingsOf(served, found)
}

/** The table of a case with its notes. */
export function findingsOf(served: ServedCase, found: Rounds<Sample>): Findings {
  const { name, says, contestants, columns } = served
  const figures = (contestant: Contestant) => columns.map((column) => figuresOf(contestant, column, found))
  return {
    name,
    says,
    header: ['', 'what', ...columns.map(({ head }) => head), 'targets'],
    rows: contestants.map((contestant) => [
      contestant.name,
      contestant.says,
      ...figures(contestant).map((values, index) => written(values, columns[index]?.digits ?? 0)),
      targetsOf(contestant),
    ]),
    notes: notesOf(served, found),
    verdicts: contestants.flatMap((contestant) => verdictsOf(served, contestant, found)),
    summary: columns.flatMap((column) =>
      summaryOf(
        column.summary,
        contestants.map((contestant) => ({ ...contestant, value: median(figuresOf(contestant, column, found)) })),
        column.digits,
      ),
    ),
    data: { samples: Object.fromEntries(found.samples), failures: Object.fromEntries(found.failures) },
  }
}

function figuresOf({ name, against }: Contestant, { of, as = 'value' }: Column, { samples }: Rounds<Sample>): number[] {
  const numberOf = (sample: Sample) => sample[of] ?? Number.NaN
  if (as === 'value') return (samples.get(name) ?? []).map(numberOf).filter((value) => !Number.isNaN(value))
  if (against === undefined) return []
  const compare = as === 'above' ? (value: number, base: number) => value - base : undefined
  return compared(name, against, samples, numberOf, compare).filter((value) => !Number.isNaN(value))
}

/** If the system does not report a number, its cell is empty. */
function written(values: readonly number[], digits: number): string {
  if (values.length === 0) return ''
  return values.length === 1 || values.every((value) => value === values[0])
    ? fixed(median(values), digits)
    : withRange(values, digits)
}

function notesOf({ notes = [], contestants, columns }: ServedCase, { samples, failures }: Rounds<Sample>): string[] {
  const isHeld = columns.some(({ as = 'value' }) => as !== 'value')
  const base = contestants.find(({ against }) => against === undefined)?.name
  const foreign = Math.max(...[...samples.values()].flat().map((sample) => sample.foreign ?? 0))
  return [
    ...notes,
    ...(isHeld ? [`Ratios to ${base} of the same round; median [range] of the rounds.`] : []),
    ...(foreign > 0
      ? [`Other processes used at most ${fixed(foreign * 100, 0)} % of a core during a measurement.`]
      : []),
    ...[...failures].map(([name, why]) => `**${name} could not be measured**: ${why}`),
  ]
}

function targetsOf({ targets = {} }: Contestant): string {
  return Object.entries(targets)
    .map(([head, target]) => `${head} ${wish(target)}`)
    .join(', ')
}

function wish({ atLeast, atMost }: Target): string {
  return atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`
}

function verdictsOf({ name, columns }: ServedCase, contestant: Contestant, found: Rounds<Sample>): Verdict[] {
  return Object.entries(contestant.targets ?? {}).map(([head, target]) => {
    const column = columns.find((each) => each.head === head)
    if (column === undefined)
      throw new Error(`${name}: there is no column '${head}' for the target of ${contestant.name}`)
    const values = figuresOf(contestant, column, found)
    const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = target
    const middle = median(values)
    const says = values.length === 0 ? 'could not be measured' : `${written(values, column.digits)} ${head}`
    return {
      name: `${name} ${contestant.name}`,
      met: middle >= atLeast && middle <= atMost,
      says: `${says}, target ${wish(target)}`,
    }
  })
}
