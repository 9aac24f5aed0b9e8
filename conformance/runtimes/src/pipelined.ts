/** Has a client of each Node go that sent many requests at once: older ones tell only the first of them by themselves. */
import { join } from 'node:path'
import { out } from './bundle.ts'
import { start } from './programs.ts'
import type { Runtime } from './runtimes.ts'
import type { CheckResult } from './smoke.ts'

/** Each call heard of it, each stream gave back its place, nothing was waited for, and nothing was warned of. */
const RIGHT = JSON.stringify({ calls: [15, 15], listens: 15, drained: 'at once', warnings: [] })

export function runPipelined(nodes: readonly Runtime[]): Promise<CheckResult[]> {
  return Promise.all(nodes.map(runOne))
}

async function runOne({ name, path }: Runtime): Promise<CheckResult> {
  const check = `${name} ends all that a client sent at once when it goes`
  try {
    const found = await start(path, [join(out, 'pipelined.js')]).ended()
    return found === RIGHT ? { check } : { check, fault: `it found ${found}` }
  } catch (error) {
    return { check, fault: String(error) }
  }
}
