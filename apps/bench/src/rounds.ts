/** Measures several subjects in turns, so that a disturbance hits all alike. */
import { mean } from './statistics.ts'

/** Who has a turn, and whom it is held against. */
export interface Turn {
  readonly name: string
  readonly against?: string | undefined
}

/** What was measured of each, and in which round. */
export type Samples<S> = ReadonlyMap<string, readonly (S & { readonly round: number })[]>

export interface Rounds<S> {
  readonly samples: Samples<S>
  /** Those that could not be measured, and why. They are not tried again. */
  readonly failures: ReadonlyMap<string, string>
}

/** After so many that are held against it, a base has another turn. */
const MOST_BETWEEN = 6

/** Every other round goes backwards; a base has its turn before and after those that are held against it. */
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

/** A number of each sample, held against the mean of its base in the same round by `compare`. */
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
