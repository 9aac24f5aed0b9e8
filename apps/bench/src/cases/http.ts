/** `tools/call` over HTTP: as JSON, and as an SSE stream with one event. */
import type { Column, ServedCase } from '../case.ts'
import { overHttp, timesOf } from '../contestants.ts'

const columns: readonly Column[] = [
  { head: 'calls/s at 16', of: 'rate16', digits: 0 },
  { head: '× at 1', of: 'rate1', as: 'ratio', digits: 2 },
  { head: '× at 16', of: 'rate16', as: 'ratio', digits: 2 },
  { head: '× at 64', of: 'rate64', as: 'ratio', digits: 2 },
  { head: 'CPU µs', of: 'cpu16', digits: 1 },
  { head: 'CPU ×', of: 'cpu16', as: 'ratio', digits: 2 },
  { head: 'p50 ms at 64', of: 'p5064', digits: 2 },
  { head: 'p99 ms at 64', of: 'p9964', digits: 2 },
  { head: 'p99 × at 64', of: 'p9964', as: 'ratio', digits: 1 },
  { head: 'core in use', of: 'busy64', digits: 2 },
]

const notes = [
  'Calls per second with 1, 16 and 64 in flight, and the processor time of the server per call with 16 in flight. ' +
    '`core in use` is the share of its core that the server used with 64 in flight.',
]

const withSummary = (what: string, tail?: string): readonly Column[] =>
  columns.map((column) => {
    if (column.head === '× at 16') return { ...column, summary: what }
    return column.head === 'p99 × at 64' && tail !== undefined ? { ...column, summary: tail } : column
  })

/** Hono alone reaches 0.8 of node:http: the targets allow 15 % more for the protocol. */
const asJson = { '× at 16': { atLeast: 0.68 }, 'p99 × at 64': { atMost: 2 } }

export const http: ServedCase = {
  kind: 'served',
  name: 'http',
  says: 'A `tools/call` with two numbers over HTTP, with JSON responses, compared with node:http alone.',
  columns: withSummary('calls over HTTP, JSON responses, × bare', 'the slowest of 100 calls, 64 in flight, × bare'),
  notes,
  contestants: overHttp(
    [
      ...(['bare', 'bareModern', 'bareHono', 'honoText', 'honoTurn', 'honoIncoming'] as const),
      ...(['nodeModern', 'nodeLegacy', 'honoModern', 'honoLegacy'] as const),
      ...(['official2', 'official2Hono', 'official2Legacy', 'official1', 'mcpLiteJson'] as const),
    ],
    (subject, options) => ({ kind: 'calls', subject, inFlight: [1, 16, 64], answers: 'json', ...timesOf(options) }),
    {
      nodeModern: asJson,
      nodeLegacy: asJson,
      honoModern: asJson,
      honoLegacy: asJson,
    },
  ),
}

const asEvents = { '× at 16': { atLeast: 0.8 } }
const asEventsWithHono = { '× at 16': { atLeast: 0.65 } }

export const events: ServedCase = {
  kind: 'served',
  name: 'events',
  says: 'The same calls, each answered with an event stream that has one event.',
  columns: withSummary('the same, answered as events, × bare'),
  notes,
  contestants: overHttp(
    [
      ...(['bare', 'bareHono', 'nodeModern', 'nodeLegacy', 'honoModern', 'honoLegacy'] as const),
      ...(['official2', 'official2Legacy', 'official1', 'mcpLite', 'tmcpModern', 'tmcpLegacy'] as const),
    ],
    (subject, options) => ({ kind: 'calls', subject, inFlight: [1, 16, 64], answers: 'events', ...timesOf(options) }),
    { nodeModern: asEvents, nodeLegacy: asEvents, honoModern: asEventsWithHono, honoLegacy: asEventsWithHono },
  ),
}
