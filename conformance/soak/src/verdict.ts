/** The verdict on a run: whether its resources were flat, and whether each operation had a result or a named error. */

import type { Resources } from './resources.ts'
import { countHandles, type Recording, type Sample } from './samples.ts'

export interface Check {
  readonly name: string
  readonly passed: boolean
  /** The measured value and its bound. */
  readonly found: string
}

/** The allowed growth in the second half of a run: a part of the median, or an amount if that is more. */
interface Allowed {
  readonly part: number
  readonly least: number
}

/** The allowed growth of the heap, in bytes. */
const HEAP_GROWTH = { part: 0.1, least: 4 * 1024 * 1024 }
/** The allowed growth of the resident memory, in bytes. Node returns freed memory to the system late, in large parts. */
const MEMORY_GROWTH = { part: 0.25, least: 48 * 1024 * 1024 }
/** The warm-up, in which clients connect and caches fill: a part of the run, and the longest time, in ms. */
const WARM_UP = { part: 1 / 3, most: 120_000 }
/** The allowed growth of the heap from the end of the warm-up to the end of a run: a part, or bytes. */
const HEAP_GROWTH_OF_RUN = { part: 0.2, least: 4 * 1024 * 1024 }
/**
 * The allowed growth of the number of handles. The number of idle sockets depends on the rate of operations; the end of
 * the run shows leaks exactly.
 */
const HANDLE_GROWTH = { part: 0.5, least: 100 }
/** The allowed growth of the number of sessions, which also depends on the rate of operations. */
const SESSION_GROWTH = { part: 0.5, least: 100 }
/**
 * The allowed growth of the processor time of an operation or a message, in ms. Other programs on the machine hardly
 * change this time, so it shows work that grows. At a low rate, timers and probes are a larger part of it.
 */
const WORK_GROWTH = { part: 0.3, least: 1.5 }
/**
 * The allowed growth of the lower bounds of the delay of the event loop and of the duration of calls, in ms. Lower bounds
 * are compared because other programs on the machine add to each of these times.
 */
const DELAY_GROWTH = { part: 0.5, least: 150 }
const MEDIAN_GROWTH = { part: 0.5, least: 100 }
const PERCENTILE_GROWTH = { part: 0.5, least: 700 }
/** The part of the samples that may be below a lower bound. */
const LOWER_BOUND = 0.2
/** The number of handles that a process may have more after its last connection than before its first connection. */
const HANDLES_LEFT = 3
/** The smallest number of samples in the second half for which a slope is computed. */
const FEWEST_SAMPLES = 4

export function judge(recording: Recording): Check[] {
  const { samples, rest, running, held, failed, failures, lost, exit } = recording
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
      name: 'no session, stream or request is left',
      passed: held.sessions + held.streams + held.requests === 0,
      found: `${held.sessions} sessions, ${held.streams} streams, ${held.requests} requests`,
    },
    {
      name: 'there are enough samples',
      passed: half.length >= FEWEST_SAMPLES,
      found: `${half.length} in the second half`,
    },
    ...Object.entries(rest).map(([name, { before, after }]) => checkRest(name, before, after)),
    checkGrowth('sessions', half, SESSION_GROWTH, toCount, ({ held }) => held?.sessions),
    ...names.flatMap((name) => [
      checkGrowth(`heap of ${name}`, half, HEAP_GROWTH, toMegabytes, (sample) => sample.processes[name]?.heap),
      checkEnds(`heap of ${name}`, samples, (sample) => sample.processes[name]?.heap),
      checkGrowth(`handles of ${name}`, half, HANDLE_GROWTH, toCount, (sample) => {
        const resources = sample.processes[name]
        return resources && countHandles(resources)
      }),
      checkGrowth(
        `resident memory of ${name}`,
        half,
        MEMORY_GROWTH,
        toMegabytes,
        (sample) => sample.processes[name]?.rss,
      ),
      checkLowerBound(`delay of the event loop of ${name}`, half, DELAY_GROWTH, ({ processes }) => {
        return processes[name]?.loopDelay.p99
      }),
    ]),
    ...BUSY.map((name) =>
      checkGrowth(`processor time of ${name}`, workOf(name, half), WORK_GROWTH, toMilliseconds, ({ work }) => work),
    ),
    checkLowerBound('duration of plain calls, p50', half, MEDIAN_GROWTH, ({ latency }) => latency?.p50),
    checkLowerBound('duration of plain calls, p99', half, PERCENTILE_GROWTH, ({ latency }) => latency?.p99),
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

/** The processes that take part in most operations. */
const BUSY = ['client', 'server'] as const

/**
 * Returns the processor time of a process since the sample before, in ms: of the client per operation, of the server per
 * message, because a slow server gets fewer of the operations.
 */
export function workOf(name: string, samples: readonly Sample[]): { at: number; work: number | undefined }[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index] as Sample
    const [used, usedBefore] = [sample.processes[name]?.cpu, before.processes[name]?.cpu]
    const count = ({ operations, messages = 0 }: Sample) => (name === 'client' ? operations : messages)
    const done = count(sample) - count(before)
    const isKnown = used !== undefined && usedBefore !== undefined && done > 0
    return { at: sample.at, work: isKnown ? (used - usedBefore) / done : undefined }
  })
}

function checkGrowth<S extends { readonly at: number }>(
  name: string,
  samples: readonly S[],
  allowed: Allowed,
  format: (value: number) => string,
  read: (sample: S) => number | undefined,
): Check {
  const points = samples.flatMap((sample): [number, number][] => {
    const value = read(sample)
    return value === undefined ? [] : [[sample.at, value]]
  })
  const growth = growthOf(points)
  const most = Math.max(allowed.part * median(points.map(([, value]) => value)), allowed.least)
  const [first, last] = [points[0], points.at(-1)].map((point) => format(point?.[1] ?? 0))
  const grown = `${growth < 0 ? '-' : '+'}${format(Math.abs(growth))}`
  const found = `${grown} in the second half, at most +${format(most)} (${first} to ${last})`
  return { name: `${name}: flat`, passed: growth <= most, found }
}

/** Compares the lower bounds of the two halves of the samples. Values that are high for some time do not change them. */
function checkLowerBound(
  name: string,
  samples: readonly Sample[],
  allowed: Allowed,
  read: (sample: Sample) => number | undefined,
): Check {
  const values = samples.map(read)
  const middle = Math.floor(values.length / 2)
  const [before, after] = [lowerBound(values.slice(0, middle)), lowerBound(values.slice(middle))]
  const most = before + Math.max(allowed.part * before, allowed.least)
  const found = `${toMilliseconds(after)} after ${toMilliseconds(before)}, at most ${toMilliseconds(most)}`
  return { name: `${name}: flat`, passed: after <= most, found }
}

function lowerBound(values: readonly (number | undefined)[]): number {
  const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * LOWER_BOUND)] ?? 0
}

/** Compares the medians of the first and of the last quarter of the samples after the warm-up. */
function checkEnds(name: string, samples: readonly Sample[], read: (sample: Sample) => number | undefined): Check {
  const warmUp = Math.min(WARM_UP.most, (samples.at(-1)?.at ?? 0) * WARM_UP.part)
  const values = samples.filter(({ at }) => at >= warmUp).flatMap((sample) => read(sample) ?? [])
  const quarter = Math.ceil(values.length / 4)
  const [start, end] = [median(values.slice(0, quarter)), median(values.slice(-quarter))]
  const { part, least } = HEAP_GROWTH_OF_RUN
  const change = start === 0 ? 0 : (end / start - 1) * 100
  const percent = `${change < 0 ? '' : '+'}${change.toFixed(1)} %, at most +${part * 100} %`
  return {
    name: `${name}: as at the start`,
    passed: end - start <= Math.max(part * start, least),
    found: `${toMegabytes(start)} after the warm-up, ${toMegabytes(end)} at the end (${percent})`,
  }
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

function toMilliseconds(value: number): string {
  return `${value.toFixed(1)} ms`
}

function toCount(value: number): string {
  return String(Math.round(value))
}

export function toMegabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
