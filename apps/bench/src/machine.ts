/** The machine a run takes place on: what it is, and how a child is kept on one core of it. */
import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'

/** The core that children run on: the last one this process may use. Nothing where `taskset` does not exist. */
export const core: string | undefined = lastCore()

/** The command that runs `node <args>` on that core. */
export function pinned(args: readonly string[]): [command: string, args: string[]] {
  if (core === undefined) return [process.execPath, [...args]]
  return ['taskset', ['-c', core, process.execPath, ...args]]
}

/** `Node 24.1.0, linux x64, AMD EPYC, 2 cores; children on core 1`. */
export function describeMachine(): string {
  const [first] = cpus()
  const where = core === undefined ? 'children not pinned to a core' : `children on core ${core}`
  const model = first?.model.trim() ?? 'unknown processor'
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${model}, ${cpus().length} cores; ${where}`
}

function lastCore(): string | undefined {
  try {
    const mine = execFileSync('taskset', ['-cp', String(process.pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return /(\d+)\s*$/.exec(mine)?.[1]
  } catch {
    return undefined
  }
}
