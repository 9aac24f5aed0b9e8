/** Median, range and format of numbers of several rounds. */

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function fixed(value: number, digits: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** `1.06 [1.03–1.10]`: the median and the range. */
export function withRange(values: readonly number[], digits = 2): string {
  return `${fixed(median(values), digits)} [${fixed(Math.min(...values), digits)}–${fixed(Math.max(...values), digits)}]`
}
