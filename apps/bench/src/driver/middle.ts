/** Combines several samples: the median of each number. */
import { median } from '../statistics.ts'
import type { Sample } from './job.ts'

export function middleOf(all: readonly Sample[]): Sample {
  const names = Object.keys(all[0] ?? {})
  return Object.fromEntries(names.map((name) => [name, median(all.map((sample) => sample[name] ?? Number.NaN))]))
}
