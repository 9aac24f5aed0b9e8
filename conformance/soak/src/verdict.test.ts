import { describe, expect, it } from 'vitest'
import type { Resources } from './resources.ts'
import { latencyOf, type Recording, type Sample } from './samples.ts'
import { growthOf, judge } from './verdict.ts'

const MEGABYTE = 1024 * 1024

const NOTHING = { sessions: 0, streams: 0, requests: 0 }

const resources = (heap: number, timers = 0): Resources => ({
  heap: heap * MEGABYTE,
  rss: 200 * MEGABYTE,
  cpu: 0,
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
    messages: n,
    held: undefined,
    processes: { server: resources(heap(n), timers(n)) },
  }))
  return failedChecks(samples, more)
}

/** Returns the names of the checks that fail. */
function failedChecks(samples: readonly Sample[], more: Partial<Recording> = {}) {
  const recording: Recording = {
    samples,
    rest: { server: { before: resources(20), after: resources(22) } },
    running: 0,
    held: NOTHING,
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

  it('not flat if the heap at the end is a quarter larger than after the warm-up', () => {
    const failed = recordingOf(
      (n) => (n < 20 ? 60 : 76) + noise(n),
      () => 10,
    )
    expect(failed).toEqual(['heap of server: as at the start'])
  })

  it('not flat if the heap grows steadily in the second half', () => {
    expect(
      recordingOf(
        (n) => 30 + 0.3 * n + noise(n),
        () => 10,
      ),
    ).toEqual(['heap of server: flat', 'heap of server: as at the start'])
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
    ['a session is left', { held: { ...NOTHING, sessions: 1 } }, 'no session, stream or request is left'],
    ['a stream is left', { held: { ...NOTHING, streams: 1 } }, 'no session, stream or request is left'],
    ['a request is left', { held: { ...NOTHING, requests: 1 } }, 'no session, stream or request is left'],
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

describe('over time', () => {
  /** Samples of 40 s, of which each may change something. */
  function failedAfter(change: (n: number) => Partial<Sample> & { server?: Partial<Resources> }) {
    const samples = Array.from({ length: 40 }, (_, n): Sample => {
      const { server, ...more } = change(n)
      const processes = { server: { ...resources(30), ...server } }
      return {
        at: n * 1_000,
        operations: n * 100,
        throughput: 100,
        latency: undefined,
        messages: n * 100,
        held: undefined,
        processes,
        ...more,
      }
    })
    return failedChecks(samples)
  }
  const latency = (p50: number, p99: number) => ({ p50, p95: p99, p99, p999: p99 })
  const delay = (p99: number) => ({ loopDelay: { p50: 10, p99, max: p99 } })

  it('resident memory may vary and step, but not grow', () => {
    expect(failedAfter((n) => ({ server: { rss: (n < 30 ? 220 : 250) * MEGABYTE } }))).toEqual([])
    expect(failedAfter((n) => ({ server: { rss: (200 + 5 * n) * MEGABYTE } }))).toEqual([
      'resident memory of server: flat',
    ])
  })

  it('the event loop may be delayed for some time, but not from then on', () => {
    expect(failedAfter((n) => ({ server: delay(n > 25 && n < 35 ? 900 : 15) }))).toEqual([])
    expect(failedAfter((n) => ({ server: delay(n > 25 ? 300 : 15) }))).toEqual([
      'delay of the event loop of server: flat',
    ])
  })

  it('calls may be slow for some time, but not from then on', () => {
    expect(failedAfter((n) => ({ latency: n > 25 && n < 35 ? latency(90, 2_000) : latency(1, 40) }))).toEqual([])
    expect(failedAfter((n) => ({ latency: latency(n > 25 ? 190 : 1, 400) }))).toEqual([
      'duration of plain calls, p50: flat',
    ])
    expect(failedAfter((n) => ({ latency: latency(1, n > 25 ? 1_900 : 40) }))).toEqual([
      'duration of plain calls, p99: flat',
    ])
  })

  it('a message needs no more processor time, at any rate', () => {
    // Half as many messages in the second half of the samples, at the same cost.
    const rate = (n: number) => (n < 30 ? 100 * n : 3_000 + 50 * (n - 30))
    expect(failedAfter((n) => ({ messages: rate(n), server: { cpu: 2 * rate(n) } }))).toEqual([])
    expect(failedAfter((n) => ({ server: { cpu: 2 * n ** 3 } }))).toEqual(['processor time of server: flat'])
  })

  it('the number of sessions does not grow', () => {
    expect(failedAfter((n) => ({ held: { ...NOTHING, sessions: 100 + 20 * noise(n) } }))).toEqual([])
    expect(failedAfter((n) => ({ held: { ...NOTHING, sessions: 20 * n } }))).toEqual(['sessions: flat'])
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
