/** Measures the subjects of a case in turns, each time in a new process. */
import { fileURLToPath } from 'node:url'
import type { Findings, RunOptions, SpeedCase, Subject, Verdict } from './case.ts'
import type { Sample } from './child.ts'
import { leastDisturbed, readChild } from './child-process.ts'
import { core } from './machine.ts'
import { compared, type Samples, takeTurns } from './rounds.ts'
import { fixed, median, withRange } from './statistics.ts'
import { summaryOf } from './summary.ts'

const child = fileURLToPath(new URL('child.ts', import.meta.url))

export async function runRounds(speed: SpeedCase, options: RunOptions): Promise<Findings> {
  const { warmUp, duration, rounds, isQuick } = options
  const measure = (name: string): Promise<Sample> =>
    leastDisturbed(isQuick ? 1 : undefined, () =>
      readChild<Sample>([child, speed.name, name, String(warmUp), String(duration)], core),
    )
  const { samples, failures } = await takeTurns(speed.subjects, rounds, measure, (round, seconds) =>
    options.note(`${speed.name}: round ${round + 1} of ${rounds} (${fixed(seconds, 0)} s)`),
  )
  const [failed] = failures
  if (failed !== undefined) throw new Error(`${speed.name}: ${failed.join(': ')}`)
  return findingsOf(speed, samples)
}

function findingsOf(speed: SpeedCase, samples: Samples<Sample>): Findings {
  const verdicts = speed.subjects.flatMap((subject) => verdictOf(speed.name, subject, samples) ?? [])
  const all = [...samples.values()].flat()
  const foreign = Math.max(...all.map((sample) => sample.foreign))
  const notes = [
    'Times of one call: mean processor time, garbage collection included; and the median by the clock. ' +
      'Ratios are taken within a round: median [range] of the rounds. A target is for the median ratio of processor times.',
    `Something else had at most ${fixed(foreign * 100, 0)} % of the core during a measurement.`,
  ]
  return {
    name: speed.name,
    says: speed.says,
    header: ['', 'what', 'µs', 'µs by the clock', 'MB/s', 'limit', '× limit', '× by the clock', 'target'],
    rows: speed.subjects.map((subject) => rowOf(subject, samples)),
    notes,
    verdicts,
    summary: summaryOf(
      speed.summary,
      speed.subjects.map(({ name, maker, against }) => ({
        maker,
        value: against === undefined ? undefined : median(ratiosOf(name, against, samples, 'cpu')),
      })),
    ),
    data: Object.fromEntries(samples),
  }
}

function ratiosOf(name: string, against: string, samples: Samples<Sample>, key: 'cpu' | 'wall'): number[] {
  return compared(name, against, samples, (sample) => sample[key])
}

function rowOf({ name, says, against, atMost }: Subject, samples: Samples<Sample>): string[] {
  const own = samples.get(name) ?? []
  const cpu = median(own.map((sample) => sample.cpu))
  const characters = own[0]?.characters
  return [
    name,
    says,
    micros(cpu),
    micros(median(own.map((sample) => sample.wall))),
    characters === undefined ? '' : fixed((characters / cpu) * 1000, 0),
    against ?? '',
    against === undefined ? '' : withRange(ratiosOf(name, against, samples, 'cpu')),
    against === undefined ? '' : withRange(ratiosOf(name, against, samples, 'wall')),
    atMost === undefined ? '' : `≤ ${atMost}`,
  ]
}

function verdictOf(
  caseName: string,
  { name, against, atMost }: Subject,
  samples: Samples<Sample>,
): Verdict | undefined {
  if (against === undefined || atMost === undefined) return undefined
  const ratios = ratiosOf(name, against, samples, 'cpu')
  return {
    name: `${caseName} ${name}`,
    met: median(ratios) <= atMost,
    says: `${withRange(ratios)} × ${against}, target ≤ ${atMost}`,
  }
}

function micros(ns: number): string {
  const us = ns / 1000
  return fixed(us, us < 100 ? 2 : 0)
}
