/** Large calls: a thousand notifications, a large result, a large request. */
import type { Column, ServedCase } from '../case.ts'
import { type HttpName, overHttp, timesOf } from '../contestants.ts'

const all: readonly HttpName[] = [
  ...(['bare', 'nodeModern', 'nodeLegacy', 'honoModern', 'honoLegacy'] as const),
  ...(['official2', 'official2Legacy', 'official1', 'mcpLite', 'tmcpModern'] as const),
]
const ours: readonly HttpName[] = ['nodeModern', 'nodeLegacy', 'honoModern', 'honoLegacy']
const forOurs = <T>(targets: T) => Object.fromEntries(ours.map((name) => [name, targets]))

export const progress: ServedCase = {
  kind: 'served',
  name: 'progress',
  says: 'A call that reports its progress 1,000 times before it ends.',
  columns: [
    { head: 'notifications/s', of: 'rate', digits: 0 },
    { head: '×', of: 'rate', as: 'ratio', digits: 2, summary: 'progress notifications, × bare' },
    { head: 'CPU µs', of: 'cpu', digits: 2 },
    { head: 'CPU ×', of: 'cpu', as: 'ratio', digits: 2 },
  ],
  contestants: overHttp(
    all,
    (subject, options) => ({ kind: 'progress', subject, ...timesOf(options) }),
    forOurs({ '×': { atLeast: 1 } }),
  ),
}

const columns = (summary: string): readonly Column[] => [
  { head: 'MB/s', of: 'rate', digits: 0 },
  { head: '×', of: 'rate', as: 'ratio', digits: 2, summary },
  { head: 'CPU ms', of: 'cpu', digits: 2 },
  { head: 'CPU ×', of: 'cpu', as: 'ratio', digits: 2 },
  { head: 'peak MB', of: 'peak', digits: 0 },
  { head: 'peak ×', of: 'peak', as: 'ratio', digits: 2 },
]
const fast = forOurs({ '×': { atLeast: 0.85 }, 'peak ×': { atMost: 1.3 } })

export const results: ServedCase = {
  kind: 'served',
  name: 'results',
  says: 'A call with a result of 1 MB of text, and the peak memory of the server.',
  columns: columns('results of 1 MB, × bare'),
  contestants: overHttp(
    all,
    (subject, options) => ({ kind: 'payload', subject, way: 'give', bytes: 1_000_000, ...timesOf(options) }),
    fast,
  ),
}

export const requests: ServedCase = {
  kind: 'served',
  name: 'requests',
  says: 'A call with arguments of 4 MB of text.',
  columns: columns('requests of 4 MB, × bare'),
  contestants: overHttp(
    all,
    (subject, options) => ({ kind: 'payload', subject, way: 'take', bytes: 4_000_000, ...timesOf(options) }),
    fast,
  ),
}
