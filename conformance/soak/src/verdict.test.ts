import { describe, expect, it } from 'vitest'
import type { Resources } from './resources.ts'
import { latencyOf, type Recording } from './samples.ts'
import { growthOf, judge } from './verdict.ts'

const MEGABYTE = 1024 * 1024

const resources = (heap: number, timers = 0): Resources => ({
  heap: heap * MEGABYTE,
  rss: 0,
  handles: { TCPServerWrap: 1, Timeout: timers },
  loopDelay: { p50: 10, p99: 10, max: 10 },
})

/** Returns a recording of 40 samples. The heap, in MB, and the timers depend on the number of the sample. */
function recordingOf(heap: (n: number) => number, timers: (n: number) => number, more: Partial<Recording> = {}) {
  const samples = Array.from({ length: 40 }, (_, n) => ({
    at: n * 1_000,
    operations: n,
    throughput: 1,
    latency: undefined,
    processes: { server: resources(heap(n), timers(n)) },
  }))
  const recording: Recording = {
    samples,
    rest: { server: { before: resources(20), after: resources(22) } },
    running: 0,
    outcomes: {},
    failed: 0,
    failures: [],
    changes: { made: 0, longestDelay: 0 },
    problems: { server: {}, clients: {} },
    lost: 0,
    exit: undefined,
    ...more,
  }
  return judge(recording)
    .filter(({ passed }) => !passed)
    .map(({ name }) => name)
}

/** Returns a value between -1 and 1. */
const noise = (n: number) => Math.sin(n * 7)

describe('a run is', () => {
  it('flat if heap and handles vary without growing', () => {
    const failed = recordingOf(
      (n) => 50 + 4 * noise(n),
      (n) => 30 + 9 * noise(n + 1),
    )
    expect(failed).toEqual([])
  })

  it('flat if it grows only at its beginning, and if one sample of many is high', () => {
    const failed = recordingOf(
      (n) => (n === 39 ? 90 : Math.min(50, 20 + n * 2)),
      (n) => Math.min(40, n * 4),
    )
    expect(failed).toEqual([])
  })

  it('not flat if the heap grows steadily in the second half', () => {
    expect(
      recordingOf(
        (n) => 30 + 0.3 * n + noise(n),
        () => 10,
      ),
    ).toEqual(['heap of server: flat'])
  })

  it('not flat if the handles grow steadily in the second half', () => {
    expect(
      recordingOf(
        () => 30,
        (n) => 10 + 8 * n + noise(n),
      ),
    ).toEqual(['handles of server: flat'])
  })

  it.each<[string, Partial<Recording>, string]>([
    [
      'an operation fails',
      { failed: 1, failures: [{ at: 1, operation: 'call', problem: 'unnamed' }] },
      'each operation has a result, or an error that a fault explains',
    ],
    ['an operation is lost', { lost: 1 }, 'no operation is lost'],
    ['the server ends', { exit: '9: out of memory' }, 'the server keeps running'],
    ['a handler runs on', { running: 1 }, 'no handler runs afterwards'],
    [
      'handles are left',
      { rest: { client: { before: resources(20), after: resources(20, 6) } } },
      'handles of client: freed',
    ],
    ['it was too short', { samples: [] }, 'there are enough samples'],
  ])('not flat if %s', (_, more, name) => {
    const flat = () => 30
    expect(recordingOf(flat, flat, more)).toEqual([name])
  })
})

it('measures the growth of a line through noisy points', () => {
  const points = Array.from({ length: 21 }, (_, n) => [n, 3 * n + noise(n)] as const)
  expect(growthOf(points)).toBeGreaterThan(57)
  expect(growthOf(points)).toBeLessThan(63)
  expect(growthOf([])).toBe(0)
  expect(growthOf([[1, 5]])).toBe(0)
})

it('computes percentiles', () => {
  const durations = Array.from({ length: 1_000 }, (_, n) => n)
  expect(latencyOf(durations)).toEqual({ p50: 500, p95: 950, p99: 990, p999: 999 })
  expect(latencyOf([7])).toEqual({ p50: 7, p95: 7, p99: 7, p999: 7 })
  expect(latencyOf([])).toBeUndefined()
})
