/** Combines several contestants in one line: the worst and the best of each maker. */
import type { Maker, SummaryLine } from './case.ts'
import { fixed } from './statistics.ts'

export interface Entrant {
  readonly maker?: Maker | undefined
  readonly value: number | undefined
}

export function summaryOf(what: string | undefined, entrants: readonly Entrant[], digits = 2): SummaryLine[] {
  if (what === undefined) return []
  const cells: Partial<Record<Maker, string>> = {}
  for (const maker of new Set(entrants.map((entrant) => entrant.maker))) {
    const values = entrants
      .filter((entrant) => entrant.maker === maker)
      .flatMap(({ value }) => (value === undefined || Number.isNaN(value) ? [] : [value]))
    if (maker === undefined || values.length === 0) continue
    const [least, most] = [fixed(Math.min(...values), digits), fixed(Math.max(...values), digits)]
    cells[maker] = least === most ? least : `${least}–${most}`
  }
  return [{ what, cells }]
}
