/** The verdict on a run: whether its resources were flat, and whether each operation had a result or a named error. */

import type { Resources } from './resources.ts'
import { countHandles, type Recording, type Sample } from './samples.ts'

export interface Check {
  readonly name: string
  readonly passed: boolean
  /** The measured value and its bound. */
  readonly found: string
}

/** The allowed growth of the heap in the second half of a run: a part of its median, or bytes. */
const HEAP_GROWTH = { part: 0.1, least: 4 * 1024 * 1024 }
/**
 * The allowed growth of the number of handles. The number of idle sockets depends on the rate of operations; the end of
 * the run shows leaks exactly.
 */
const HANDLE_GROWTH = { part: 0.5, least: 100 }
/** The number of handles that a process may have more after its last connection than before its first connection. */
const HANDLES_LEFT = 3
/** The smallest number of samples in the second half for which a slope is computed. */
const FEWEST_SAMPLES = 4

export function judge(recording: Recording): Check[] {
  const { samples, rest, running, failed, failures, lost, exit } = recording
  const half = samples.slice(Math.floor(samples.length / 2))
  const names = Object.keys(half.at(-1)?.processes ?? {})
  const [first] = failures
  return [
    {
      name: 'each operation has a result, or an error that a fault explains',
      passed: failed === 0,
      found: first === undefined ? 'no failure' : `${failed} failures; first: ${first.operation}: ${first.problem}`,
    },
    { name: 'no operation is lost', passed: lost === 0, found: `${lost} did not end` },
    { name: 'the server keeps running', passed: exit === undefined, found: exit ?? 'no exit' },
    { name: 'no handler runs afterwards', passed: running === 0, found: `${running} run` },
    {
      name: 'there are enough samples',
      passed: half.length >= FEWEST_SAMPLES,
      found: `${half.length} in the second half`,
    },
    ...Object.entries(rest).map(([name, { before, after }]) => checkRest(name, before, after)),
    ...names.flatMap((name) => [
      checkGrowth(`heap of ${name}`, half, HEAP_GROWTH, toMegabytes, (sample) => sample.processes[name]?.heap),
      checkGrowth(`handles of ${name}`, half, HANDLE_GROWTH, String, (sample) => {
        const resources = sample.processes[name]
        return resources && countHandles(resources)
      }),
    ]),
  ]
}

function checkRest(name: string, before: Resources, after: Resources): Check {
  const left = countHandles(after) - countHandles(before)
  const kinds = Object.entries(after.handles).map(([kind, count]) => `${count} ${kind}`)
  return {
    name: `handles of ${name}: freed`,
    passed: left <= HANDLES_LEFT,
    found: `${left} more than before the first connection, at most ${HANDLES_LEFT} (${kinds.join(', ')})`,
  }
}

function checkGrowth(
  name: string,
  samples: readonly Sample[],
  allowed: { part: number; least: number },
  format: (value: number) => string,
  read: (sample: Sample) => number | undefined,
): Check {
  const points = samples.flatMap((sample): [number, number][] => {
    const value = read(sample)
    return value === undefined ? [] : [[sample.at, value]]
  })
  const growth = growthOf(points)
  const most = Math.max(allowed.part * median(points.map(([, value]) => value)), allowed.least)
  const [first, last] = [points[0], points.at(-1)].map((point) => format(point?.[1] ?? 0))
  const grown = `${growth < 0 ? '-' : '+'}${format(Math.round(Math.abs(growth)))}`
  const found = `${grown} in the second half, at most +${format(Math.round(most))} (${first} to ${last})`
  return { name: `${name}: flat`, passed: growth <= most, found }
}

/**
 * Returns how much a line through the points grows from the first to the last point: the median of all slopes
 * (Theil-Sen).
 */
export function growthOf(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x1, y1], index) => points.slice(index + 1).map(([x2, y2]) => (y2 - y1) / (x2 - x1)))
  const [first, last] = [points[0], points.at(-1)]
  return first === undefined || last === undefined ? 0 : median(slopes) * (last[0] - first[0])
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

export function toMegabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
