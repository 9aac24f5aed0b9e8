/** What calls leave on the heap, and what they put there for a while. */

import { median } from '../statistics.ts'
import { callTimes, close, openCallers } from './calls.ts'
import type { JobOf, Sample } from './job.ts'
import { type Started, startProcess, startServer } from './served.ts'

/** Something that makes as many calls as it is told, and can be asked for its heap. */
interface Called {
  readonly process: Started
  call(times: number): Promise<void>
}

const IN_FLIGHT = 16

/** The heap after a few calls and after many, in MB. */
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
 * So much room for what is new, in MB, that nothing is collected while it is counted; and compilers that take their turn
 * with the program, so that they are equally far on every machine.
 */
const FLAGS = ['--min-semi-space-size=128', '--max-semi-space-size=128', '--no-concurrent-recompilation']
const WINDOWS = 3

/** Bytes that one call puts on the heap, once the compilers are done with the code. */
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

/**
 * So little room for what is new that it is collected every few hundred calls, and so much for what is old that this is
 * not: what is then found there was kept by something when it should have been gone.
 */
const YOUNG_FLAGS = [
  '--min-semi-space-size=1',
  '--max-semi-space-size=1',
  '--initial-heap-size=512',
  '--no-concurrent-recompilation',
]
/** Fewer bytes of a call are what the runtime keeps for a while, now and then; it never keeps less than nothing. */
const GRAIN = 16

/** Bytes of one call that outlive it, until old objects are looked at too. */
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
    // Of a few stretches, the least is the same each time.
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
