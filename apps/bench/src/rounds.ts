/** Measures several subjects in turns, so that disturbances affect all of them. */
import { mean } from './statistics.ts'

/** A subject and its baseline. */
export interface Turn {
  readonly name: string
  readonly against?: string | undefined
}

/** The samples of each subject, by round. */
export type Samples<S> = ReadonlyMap<string, readonly (S & { readonly round: number })[]>

export interface Rounds<S> {
  readonly samples: Samples<S>
  /** The failed subjects with their errors, which are not repeated. */
  readonly failures: ReadonlyMap<string, string>
}

/** A baseline is measured again after this number of subjects. */
const MOST_BETWEEN = 6

/** Returns the order of a round, which alternates its direction; a baseline is measured before and after its subjects. */
export function orderOf(turns: readonly Turn[], round: number): string[] {
  const order = turns
    .filter(({ against }) => against === undefined)
    .flatMap(({ name }) => {
      const others = turns.filter(({ against }) => against === name)
      return [
        name,
        ...others.flatMap((each, index) => (isPause(index, others.length) ? [each.name, name] : [each.name])),
      ]
    })
  return round % 2 === 0 ? order : order.reverse()
}

function isPause(index: number, count: number): boolean {
  const parts = Math.ceil(count / MOST_BETWEEN)
  return (index + 1) % Math.ceil(count / parts) === 0 || index === count - 1
}

export async function takeTurns<S>(
  turns: readonly Turn[],
  rounds: number,
  measure: (name: string, round: number) => Promise<S>,
  note: (round: number, seconds: number) => void,
): Promise<Rounds<S>> {
  const samples = new Map(turns.map(({ name }) => [name, [] as (S & { round: number })[]]))
  const failures = new Map<string, string>()
  for (let round = 0; round < rounds; round++) {
    const started = performance.now()
    for (const name of orderOf(turns, round)) {
      if (failures.has(name)) continue
      try {
        samples.get(name)?.push({ ...(await measure(name, round)), round })
      } catch (error) {
        failures.set(name, reasonOf(error))
      }
    }
    note(round, (performance.now() - started) / 1000)
  }
  return { samples, failures }
}

function reasonOf(error: unknown): string {
  const said = (error as { stderr?: string }).stderr ?? (error instanceof Error ? error.message : String(error))
  return said.trim().split('\n')[0]?.slice(0, 200) ?? ''
}

/** Compares a number of each sample with the mean of its baseline in the same round. */
export function compared<S>(
  name: string,
  base: string,
  samples: Samples<S>,
  numberOf: (sample: S) => number,
  compare: (value: number, base: number) => number = (value, limit) => value / limit,
): number[] {
  return (samples.get(name) ?? []).map((sample) => {
    const bases = (samples.get(base) ?? []).filter(({ round }) => round === sample.round)
    return compare(numberOf(sample), mean(bases.map(numberOf)))
  })
}
