/** A stretch of time in which a process is watched: how long it was, and who had the processors. */
import { busyOf, core, cpuOf, loadCore } from '../machine.ts'

export interface Window {
  /** In ms, by the clock. */
  readonly wall: number
  /** Processor time that the process has used, in ms. */
  readonly cpu: number
  /** How much of the time the process had a processor: 1 is always. */
  readonly busy: number
  /** The largest share of either core that somebody else had. */
  readonly foreign: number
}

/** Begins to watch; what it returns ends that. */
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

/**
 * Keeps this process awake while something is measured: to wake one that sleeps costs the writer more than to write, and
 * only slow servers let it fall asleep.
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
