/** Sessions: the time of the setup, and the memory of an idle session. */
import type { ServedCase } from '../case.ts'
import { overHttp, timesOf } from '../contestants.ts'

const enough = { '×': { atLeast: 0.6 } }

export const setups: ServedCase = {
  kind: 'served',
  name: 'setups',
  says:
    'A client sets up a session and lists the tools: `initialize`, `notifications/initialized` and `tools/list`; ' +
    'in the modern era `server/discover` and `tools/list`.',
  columns: [
    { head: 'set-ups/s', of: 'rate', digits: 0 },
    { head: '×', of: 'rate', as: 'ratio', digits: 2, summary: 'sessions set up, × bare' },
    { head: 'CPU µs', of: 'cpu', digits: 0 },
    { head: 'CPU ×', of: 'cpu', as: 'ratio', digits: 2 },
  ],
  contestants: overHttp(
    [
      ...(['bare', 'nodeModern', 'nodeLegacy', 'honoModern', 'honoLegacy'] as const),
      ...(['official2', 'official2Legacy', 'official1', 'mcpLiteLegacy', 'tmcpModern', 'tmcpLegacy'] as const),
    ],
    (subject, options) => ({ kind: 'setups', subject, ...timesOf(options) }),
    { nodeModern: enough, nodeLegacy: enough, honoModern: enough, honoLegacy: enough },
  ),
}

const holders = [
  'bare',
  'nodeLegacy',
  'honoLegacy',
  'official2Legacy',
  'official1',
  'mcpLiteLegacy',
  'tmcpLegacy',
] as const

export const memory: ServedCase = {
  kind: 'served',
  name: 'memory',
  says: 'The heap of the server that one idle session of the legacy era uses.',
  columns: [
    { head: 'kB', of: 'heap', digits: 2, summary: 'heap of an idle session, kB' },
    { head: 'external kB', of: 'external', digits: 2 },
  ],
  mostRounds: 3,
  contestants: overHttp(
    holders,
    (subject, { isQuick }) => ({ kind: 'sessions', subject, count: isQuick ? 1_000 : 2_000, withStream: false }),
    { nodeLegacy: { kB: { atMost: 0.8 } }, honoLegacy: { kB: { atMost: 0.8 } } },
  ),
}

/** A server has at most 1,000 sessions, and some are open before the measurement. */
const MOST_LISTENS = 700

export const streams: ServedCase = {
  kind: 'served',
  name: 'streams',
  says: 'The same with the stream of the session open, its connection included; in the modern era, a client with an open `subscriptions/listen`.',
  columns: [
    { head: 'kB', of: 'heap', digits: 2, summary: 'the same with its stream open, kB' },
    { head: 'external kB', of: 'external', digits: 2 },
  ],
  mostRounds: 3,
  contestants: overHttp(
    [...holders, 'nodeModern', 'honoModern'],
    (subject, { isQuick }) => {
      const most = subject.era === 'modern' ? MOST_LISTENS : 1_000
      return { kind: 'sessions', subject, count: isQuick ? 300 : most, withStream: true }
    },
    { nodeLegacy: { kB: { atMost: 12 } }, honoLegacy: { kB: { atMost: 12 } } },
  ),
}
