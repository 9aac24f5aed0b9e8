/** Measures the resources of a process: its memory after a garbage collection, its handles, its processor time, the delay of its event loop. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import process, { getActiveResourcesInfo } from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface Resources {
  /** The used heap after a garbage collection, in bytes. */
  readonly heap: number
  /** The resident memory, in bytes. */
  readonly rss: number
  /** The processor time since the start of the process, in ms. */
  readonly cpu: number
  /** The active resources by kind, such as `TCPSocketWrap` and `Timeout`. */
  readonly handles: Readonly<Record<string, number>>
  /** The delay of the event loop since the last measurement, in ms. */
  readonly loopDelay: { readonly p50: number; readonly p99: number; readonly max: number }
}

/** Returns a function that measures this process. */
export function observeResources(): () => Resources {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  return () => {
    const loopDelay = {
      p50: toMs(delay.percentile(50)),
      p99: toMs(delay.percentile(99)),
      max: toMs(delay.max),
    }
    // Collects twice, because the second collection frees objects whose finalizers the first collection has called.
    collectGarbage()
    collectGarbage()
    const { heapUsed, rss } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    const handles: Record<string, number> = {}
    for (const kind of getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1
    // The collection has delayed the event loop.
    setTimeout(() => delay.reset(), 30).unref()
    return { heap: heapUsed, rss, cpu: Math.round((user + system) / 1_000), handles, loopDelay }
  }
}

function toMs(nanoseconds: number): number {
  return Math.round(nanoseconds / 10_000) / 100
}
