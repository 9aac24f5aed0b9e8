/** The machine of a run: its description, the assignment of cores, and the usage of processes. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** The environment variable with the available cores, for processes that are bound to one core. */
export const CORES = 'BENCH_CORES'

/** The available cores. Empty if `taskset` does not exist; then processes are not bound to cores. */
export const cores: readonly string[] = coresIn(process.env[CORES] ?? '').concat(allowedCores())

/** The core on which measured processes run: the last core. */
export const core: string | undefined = cores.at(-1)

/** The core on which drivers run: the first core. */
export const loadCore: string | undefined = cores[0]

/** The command that runs `node <args>` on a core. */
export function pinned(args: readonly string[], on = core): [command: string, args: string[]] {
  if (on === undefined) return [process.execPath, [...args]]
  return ['taskset', ['-c', on, process.execPath, ...args]]
}

/** `Node 24.1.0, linux x64, AMD EPYC, 2 cores; server on core 1, load generator on core 0`. */
export function describeMachine(): string {
  const [first] = cpus()
  const where =
    core === undefined ? 'not bound to a core' : `server on core ${core}, load generator on core ${loadCore}`
  const model = first?.model.trim() ?? 'unknown processor'
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${model}, ${cpus().length} cores; ${where}`
}

/** Returns the CPU time of all threads of a process, in milliseconds; undefined if the system does not report it. */
export function cpuOf(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + cpuOfThread(pid, thread), 0)
  } catch {
    return undefined
  }
}

/** A thread that has just ended counts as unused. */
function cpuOfThread(pid: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6
  } catch {
    return 0
  }
}

/** Returns the busy time of a core since the system started, in milliseconds, with a resolution of about 10. */
export function busyOf(on: string | undefined): number | undefined {
  try {
    const line = readFileSync('/proc/stat', 'utf8')
      .split('\n')
      .find((each) => each.startsWith(`cpu${on} `))
    if (line === undefined) return undefined
    const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0, stolen = 0] = line
      .trim()
      .split(/\s+/)
      .slice(1)
      .map(Number)
    return (user + nice + system + irq + soft + stolen) * 10
  } catch {
    return undefined
  }
}

/** Returns the peak memory of a process, in MB. */
export function peakOf(pid: number): number | undefined {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
  } catch {
    return undefined
  }
}

function allowedCores(): string[] {
  if (process.env[CORES] !== undefined) return []
  try {
    const said = execFileSync('taskset', ['-cp', String(process.pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return coresIn(/:\s*([\d,-]+)\s*$/.exec(said)?.[1] ?? '')
  } catch {
    return []
  }
}

/** `0-2,5` -> `['0', '1', '2', '5']`. */
export function coresIn(list: string): string[] {
  return list.split(',').flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number)
    if (Number.isNaN(first) || part === '') return []
    return Array.from({ length: last - first + 1 }, (_, index) => String(first + index))
  })
}
