/** The heap allocations of calls, and the memory that remains. */
import type { Contestant, RunOptions, ServedCase, Target } from '../case.ts'
import type { HeapSubject, Job } from '../driver/job.ts'

const memory = { file: 'parts/in-memory.mjs', isInMemory: true } as const
const http = { file: 'http/serve-http.mjs' } as const
const legacy = { era: 'legacy', hasSession: true } as const

const subjects: readonly (readonly [name: string, says: string, subject: HeapSubject])[] = [
  ['memory-modern', 'client and server in one process, modern era', { ...memory, era: 'modern' }],
  ['memory-legacy', 'the same, legacy era', { ...memory, era: 'legacy' }],
  ['http-modern', '`serveHttp`, modern era', { ...http, era: 'modern' }],
  ['http-legacy', '`serveHttp`, sessions of the legacy era', { ...http, ...legacy }],
]

const events: (typeof subjects)[number] = [
  'events-legacy',
  'the same, answered as events',
  { ...http, ...legacy, env: { ANSWERS: 'events' } },
]

function contestants(
  job: (subject: HeapSubject, options: RunOptions) => Job,
  targets?: Readonly<Record<string, Target>>,
  all = subjects,
): Contestant[] {
  return all.map(([name, says, subject]) => ({
    name,
    says,
    maker: 'ours',
    targets,
    job: (options) => job(subject, options),
  }))
}

/** Enough calls for the JIT compilers to finish, in memory and over HTTP. */
const WARM = { memory: 60_000, http: 15_000 }
const COUNTED = { memory: 5_000, http: 1_000 }

export const allocations: ServedCase = {
  kind: 'served',
  name: 'allocations',
  says: 'The bytes that one `tools/call` allocates on the heap, after warming up; with `serveHttp`, node:http is included.',
  columns: [
    { head: 'bytes', of: 'bytes', digits: 0 },
    { head: 'least', of: 'least', digits: 0 },
    { head: 'most', of: 'most', digits: 0 },
  ],
  notes: ['Three series of many calls without a garbage collection: the median and the range.'],
  mostRounds: 1,
  contestants: contestants((subject) => {
    const where = subject.isInMemory ? 'memory' : 'http'
    return { kind: 'allocations', subject, warmUp: WARM[where], calls: COUNTED[where] }
  }),
}

export const leftovers: ServedCase = {
  kind: 'served',
  name: 'leftovers',
  says:
    'The bytes of one `tools/call` that survive a collection of the young generation. They make its pauses longer, and so ' +
    'the slowest calls.',
  columns: [
    { head: 'bytes, by 16', of: 'left', digits: 0 },
    { head: 'exactly', of: 'least', digits: 1 },
    { head: 'most', of: 'most', digits: 1 },
  ],
  notes: [
    'Three series of many calls with a young generation of 1 MB: the minimum and the maximum. Event streams are stored for ' +
      'replay until they expire.',
  ],
  mostRounds: 1,
  contestants: contestants(
    (subject) => {
      const where = subject.isInMemory ? 'memory' : 'http'
      return { kind: 'leftovers', subject, warmUp: WARM[where], calls: 10_000 }
    },
    undefined,
    [...subjects, events],
  ),
}

export const heap: ServedCase = {
  kind: 'served',
  name: 'heap',
  says: 'The heap after 10,000 calls and after 1,000,000, in MB: nothing is kept. (A quick run makes fewer.)',
  columns: [
    { head: 'after few', of: 'before', digits: 2 },
    { head: 'after many', of: 'after', digits: 2 },
    { head: '×', of: 'ratio', digits: 3 },
  ],
  mostRounds: 1,
  contestants: contestants(
    (subject, { isQuick }) => {
      const many = isQuick ? (subject.isInMemory ? 100_000 : 20_000) : 1_000_000
      return { kind: 'heap', subject, few: 10_000, many }
    },
    { '×': { atMost: 1.03 } },
  ),
}
