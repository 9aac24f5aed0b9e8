/** The processor time and the throughput of calls at 1 to 8 nodes with one Redis, and at one node in memory. */
import { availableParallelism, loadavg } from 'node:os'
import type { Findings, OwnCase, RunOptions } from '../case.ts'
import { fixed } from '../statistics.ts'
import { type Cost, cheapest, type Kind, kinds, measure, type RedisProcess, startRedis } from './store.ts'

const NODES: readonly number[] = [1, 2, 3, 8]
/** The number of nodes whose throughput is compared with that of one node in memory. */
const COMPARED = 3

export const nodes: OwnCase = {
  kind: 'own',
  name: 'nodes',
  says: 'The processor time of a call, in µs, at one node in memory and at 1 to 8 nodes with one Redis: first that of the nodes, then that of Redis.',
  find,
}

interface Found {
  readonly kind: Kind
  readonly memory: Cost
  /** By the number of nodes. */
  readonly stored: ReadonlyMap<number, Cost>
}

async function find(options: RunOptions): Promise<Findings> {
  const [load = 0] = loadavg()
  const redis = await startRedis()
  try {
    const found: Found[] = []
    for (const kind of kinds) {
      found.push(await findKind(kind, options, redis))
      options.note(`nodes: ${kind.name}`)
    }
    return {
      name: nodes.name,
      says: nodes.says,
      header: [
        ...['', 'what', 'in memory', ...NODES.map((count) => (count === 1 ? '1 node' : `${count} nodes`))],
        ...NODES.map((count) => `Redis at ${count}`),
        ...['calls/s in memory', `calls/s at ${COMPARED}`, '×'],
      ],
      rows: found.map(rowOf),
      notes: [
        '16 calls in flight per node by our client, whose requests go to each node in turn, so that most answers reach another node than the call.',
        'All nodes share one core, and the client is slower than they are. So the processor time is the measure: nodes share nothing but Redis, whose time per call hardly depends on their number. The time of the nodes grows here even for modern calls, which send nothing to Redis: the more processes share a core, the fewer requests each receives at a time, and the less of the caches each has. Calls per second show what one core does.',
        ...describeLoad(load),
      ],
      verdicts: [],
      data: found.map(({ kind, memory, stored }) => ({ name: kind.name, memory, stored: Object.fromEntries(stored) })),
    }
  } finally {
    redis.child.kill('SIGKILL')
  }
}

/** Says that other programs used the machine, if they did. */
function describeLoad(load: number): string[] {
  const cores = availableParallelism()
  if (load <= cores) return []
  const text = `Other programs used the machine: its load average was ${fixed(load, 0)} on ${cores} cores when the run began.`
  return [`${text} Processor times hold; calls per second are too low.`]
}

async function findKind(kind: Kind, options: RunOptions, redis: RedisProcess): Promise<Found> {
  const measureRounds = async (count: number, store?: RedisProcess): Promise<Cost> => {
    const costs: Cost[] = []
    for (let round = 0; round < options.rounds; round++) costs.push(await measure(kind, options, store, count))
    return cheapest(costs)
  }
  const memory = await measureRounds(1)
  const stored = new Map<number, Cost>()
  for (const count of NODES) stored.set(count, await measureRounds(count, redis))
  return { kind, memory, stored }
}

function rowOf({ kind, memory, stored }: Found): string[] {
  const compared = stored.get(COMPARED) as Cost
  return [
    kind.name,
    kind.says,
    fixed(memory.server, 0),
    ...[...stored.values()].map(({ server }) => fixed(server, 0)),
    ...[...stored.values()].map(({ redis }) => fixed(redis, 0)),
    fixed(memory.rate, 0),
    fixed(compared.rate, 0),
    fixed(compared.rate / memory.rate, 2),
  ]
}
