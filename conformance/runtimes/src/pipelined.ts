/**
 * Checks on each Node version that a closed connection aborts all pipelined requests. Older versions signal only the
 * first request.
 */
import { join } from 'node:path'
import { out } from './bundle.ts'
import { start } from './programs.ts'
import type { Runtime } from './runtimes.ts'
import type { CheckResult } from './suite.ts'

/** The expected output: all calls aborted, all subscriptions ended, no delay and no warnings. */
const EXPECTED = JSON.stringify({ calls: [15, 15], listens: 15, drained: 'at once', warnings: [] })

export function runPipelined(nodes: readonly Runtime[]): Promise<CheckResult[]> {
  return Promise.all(nodes.map(runOne))
}

async function runOne({ name, path }: Runtime): Promise<CheckResult> {
  const check = `${name} aborts all pipelined requests of a closed connection`
  try {
    const found = await start(path, [join(out, 'pipelined.js')]).ended()
    return found === EXPECTED ? { check } : { check, fault: `expected ${EXPECTED}, got ${found}` }
  } catch (error) {
    return { check, fault: String(error) }
  }
}
