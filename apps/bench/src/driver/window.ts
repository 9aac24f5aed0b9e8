/** Measures the CPU usage of a process during a period. */
import { busyOf, core, cpuOf, loadCore } from '../machine.ts'

export interface Window {
  /** The wall-clock time, in milliseconds. */
  readonly wall: number
  /** The CPU time of the process, in milliseconds. */
  readonly cpu: number
  /** The share of time in which the process used a CPU; 1 means always. */
  readonly busy: number
  /** The largest share of a core that other processes used. */
  readonly foreign: number
}

/** Starts a measurement; the returned function ends it. */
export function watch(pid: number): () => Window {
  const before = look(pid)
  return () => {
    const after = look(pid)
    const wall = after.at - before.at
    const cpu = after.cpu - before.cpu
    const mine = after.mine - before.mine
    const foreign =
      core === loadCore
        ? (after.theirs - before.theirs - cpu - mine) / wall
        : Math.max((after.theirs - before.theirs - cpu) / wall, (after.ours - before.ours - mine) / wall)
    return { wall, cpu, busy: cpu / wall, foreign: Math.max(0, foreign) }
  }
}

function look(pid: number) {
  const { user, system } = process.cpuUsage()
  return {
    at: performance.now(),
    cpu: cpuOf(pid) ?? Number.NaN,
    mine: (user + system) / 1000,
    theirs: busyOf(core) ?? Number.NaN,
    ours: busyOf(loadCore) ?? Number.NaN,
  }
}

/** Keeps this process busy during a measurement, because waking a sleeping reader is expensive for the writer, and only slow
 * servers would let it sleep.
 */
export async function awake<T>(work: () => Promise<T>): Promise<T> {
  let isDone = false
  const spin = () => {
    if (!isDone) setImmediate(spin)
  }
  spin()
  try {
    return await work()
  } finally {
    isDone = true
  }
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
