/** Measures the subjects of a case in turns, each time in a fresh process, so that a disturbance hits all alike. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Findings, RunOptions, SpeedCase, Subject, Verdict } from './case.ts'
import type { Sample } from './child.ts'
import { pinned } from './machine.ts'
import { fixed, mean, median, withRange } from './statistics.ts'

const child = fileURLToPath(new URL('child.ts', import.meta.url))
const run = promisify(execFile)

/** A measurement that others disturbed more than this is made again, the least disturbed one counts. */
const MOST_FOREIGN = 0.1
const MOST_ATTEMPTS = 3

/** Each sample of a subject with the round it is from. */
type Samples = ReadonlyMap<string, (Sample & { round: number })[]>

export async function runRounds(speed: SpeedCase, options: RunOptions): Promise<Findings> {
  const samples: Samples = new Map(speed.subjects.map(({ name }) => [name, []]))
  for (let round = 0; round < options.rounds; round++) {
    const started = performance.now()
    for (const name of orderOf(speed, round)) {
      samples.get(name)?.push({ round, ...(await measure(speed.name, name, options)) })
    }
    const seconds = (performance.now() - started) / 1000
    options.note(`${speed.name}: round ${round + 1} of ${options.rounds} (${fixed(seconds, 0)} s)`)
  }
  return findingsOf(speed, samples)
}

/** Every other round goes backwards; a base has its turn before and after those that are held against it. */
export function orderOf({ subjects }: SpeedCase, round: number): string[] {
  const order = subjects
    .filter(({ against }) => against === undefined)
    .flatMap((base) => {
      const names = subjects.filter(({ against }) => against === base.name).map(({ name }) => name)
      return names.length === 0 ? [base.name] : [base.name, ...names, base.name]
    })
  return round % 2 === 0 ? order : order.reverse()
}

async function measure(caseName: string, subject: string, { warmUp, duration }: RunOptions): Promise<Sample> {
  // Conditions and flags of whoever started the benchmark would change what is measured.
  const { NODE_OPTIONS: _, ...env } = process.env
  const [command, args] = pinned([child, caseName, subject, String(warmUp), String(duration)])
  let best: Sample | undefined
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const { stdout } = await run(command, args, { env: { ...env, NODE_ENV: 'production' } })
    const sample = JSON.parse(stdout) as Sample
    if (best === undefined || sample.foreign < best.foreign) best = sample
    if (best.foreign <= MOST_FOREIGN) break
  }
  return best as Sample
}

/** The time of a subject in each round, divided by the mean of its base in the same round. */
export function ratiosOf(name: string, base: string, samples: Samples, key: 'cpu' | 'wall'): number[] {
  return (samples.get(name) ?? []).map((sample) => {
    const bases = (samples.get(base) ?? []).filter(({ round }) => round === sample.round)
    return sample[key] / mean(bases.map((each) => each[key]))
  })
}

function findingsOf(speed: SpeedCase, samples: Samples): Findings {
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
    data: Object.fromEntries(samples),
  }
}

function rowOf({ name, says, against, atMost }: Subject, samples: Samples): string[] {
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

function verdictOf(caseName: string, { name, against, atMost }: Subject, samples: Samples): Verdict | undefined {
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
