/** Measures the heap allocations of calls, and the memory that remains. */

import { median } from '../statistics.ts'
import { callTimes, close, openCallers } from './calls.ts'
import type { JobOf, Sample } from './job.ts'
import { type Started, startProcess, startServer } from './server-process.ts'

/** A process that makes a given number of calls and reports its heap size. */
interface Called {
  readonly process: Started
  call(times: number): Promise<void>
}

const IN_FLIGHT = 16

/** The heap size after few and after many calls, in MB. */
export async function measureHeap({ subject, few, many }: JobOf<'heap'>): Promise<Sample> {
  return withCalls(subject, [], async ({ process, call }) => {
    await call(few)
    const before = await process.heap()
    await call(many - few)
    const after = await process.heap()
    return { before: before.used / 1e6, after: after.used / 1e6, ratio: after.used / before.used }
  })
}

/**
 * These flags set a young generation (in MB) that is large enough to avoid collections during the measurement, and make
 * JIT compilation deterministic.
 */
const FLAGS = ['--min-semi-space-size=128', '--max-semi-space-size=128', '--no-concurrent-recompilation']
const WINDOWS = 3

/** The bytes that a call allocates, after JIT compilation. */
export async function measureAllocations({ subject, warmUp, calls }: JobOf<'allocations'>): Promise<Sample> {
  return withCalls(subject, FLAGS, async ({ process, call }) => {
    await call(warmUp)
    const found: number[] = []
    for (let window = 0; window < WINDOWS; window++) {
      const before = await process.heap()
      await call(calls)
      const after = await process.heap('look')
      found.push((after.used - before.used) / calls)
    }
    return { bytes: median(found), least: Math.min(...found), most: Math.max(...found) }
  })
}

/** A small young generation, which is collected every few hundred calls, and a large old generation, which is not collected:
 * objects that reach the old generation were retained too long.
 */
const YOUNG_FLAGS = [
  '--min-semi-space-size=1',
  '--max-semi-space-size=1',
  '--initial-heap-size=512',
  '--no-concurrent-recompilation',
]
/** Fewer bytes per call are noise of the runtime. */
const GRAIN = 16

/** The bytes of a call that survive until the old generation is collected. */
export async function measureLeftovers({ subject, warmUp, calls }: JobOf<'leftovers'>): Promise<Sample> {
  return withCalls(subject, YOUNG_FLAGS, async ({ process, call }) => {
    await call(warmUp)
    const found: number[] = []
    for (let window = 0; window < WINDOWS; window++) {
      await process.heap()
      await call(calls)
      const before = await process.heap('collect young')
      const after = await process.heap()
      found.push(Math.max((before.used - after.used) / calls, 0))
    }
    // Uses the minimum of several runs, because it is stable.
    const least = Math.min(...found)
    return { left: Math.max(Math.ceil(least / GRAIN), 1) * GRAIN, least, most: Math.max(...found) }
  })
}

async function withCalls<T>(
  subject: JobOf<'heap'>['subject'],
  flags: readonly string[],
  work: (called: Called) => Promise<T>,
): Promise<T> {
  const options = { ...subject, flags: ['--expose-gc', ...flags], isProbed: true }
  if (subject.isInMemory) {
    const started = startProcess({ ...options, env: { ...subject.env, ERA: subject.era } })
    await started.ready()
    return work({ process: started, call: (times) => callWithin(started, times) }).finally(() => started.stop())
  }
  const server = await startServer(options)
  const callers = await openCallers(server.port, { subject, inFlight: IN_FLIGHT })
  return work({ process: server, call: (times) => callTimes(callers, times) }).finally(() => {
    close(callers)
    return server.stop()
  })
}

function callWithin({ child }: Started, times: number): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('message', (said) => {
      const { sum } = said as { sum: string }
      if (sum === '5') resolve()
      else reject(new Error(`2 and 3 are not ${sum}`))
    })
    child.send(times)
  })
}
