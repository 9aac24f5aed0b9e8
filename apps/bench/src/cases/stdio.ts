/** Servers over stdio: calls, and the time to the first response. */
import type { ServedCase } from '../case.ts'
import { overPipes, timesOf } from '../contestants.ts'

const targets = { '× one by one': { atLeast: 0.9 }, '× at 64': { atLeast: 0.9 } }

export const stdio: ServedCase = {
  kind: 'served',
  name: 'stdio',
  says: 'A `tools/call` with two numbers over stdio to a child process: one by one, and 64 in flight.',
  columns: [
    { head: 'one by one/s', of: 'rate1', digits: 0 },
    { head: '× one by one', of: 'rate1', as: 'ratio', digits: 2, summary: 'calls over stdio, one by one, × bare' },
    { head: 'CPU × one by one', of: 'cpu1', as: 'ratio', digits: 2 },
    { head: '64 in flight/s', of: 'rate64', digits: 0 },
    { head: '× at 64', of: 'rate64', as: 'ratio', digits: 2, summary: 'the same, 64 in flight, × bare' },
    { head: 'CPU × at 64', of: 'cpu64', as: 'ratio', digits: 2 },
  ],
  contestants: overPipes(
    [
      ...(['bareEcho', 'bareCorked', 'bareZod', 'modern', 'legacy'] as const),
      ...(['official2', 'official2Legacy', 'official1', 'tmcpModern', 'tmcpLegacy'] as const),
    ],
    (subject, options) => ({ kind: 'pipe', subject, ...timesOf(options) }),
    { modern: targets, legacy: targets },
  ),
}

export const coldstart: ServedCase = {
  kind: 'served',
  name: 'coldstart',
  says: 'From the start of a child to its first answer over stdio.',
  columns: [
    { head: 'ms', of: 'ms', digits: 0 },
    { head: 'ms above bare', of: 'ms', as: 'above', digits: 0, summary: 'start of a stdio server, ms above bare' },
    { head: 'CPU ms', of: 'cpu', digits: 0 },
    { head: 'CPU ms above bare', of: 'cpu', as: 'above', digits: 0 },
  ],
  notes: ['A server with a zod tool may start 8 ms later than zod alone (`bare-zod`).'],
  contestants: overPipes(
    [
      ...(['bareEcho', 'bareZod', 'modern', 'legacy', 'rawModern'] as const),
      ...(['official2', 'official1', 'tmcpModern'] as const),
    ],
    (subject, { isQuick }) => ({ kind: 'cold-start', subject, times: isQuick ? 2 : 5 }),
    { rawModern: { 'ms above bare': { atMost: 15 } } },
  ),
}
