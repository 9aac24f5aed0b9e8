/** Runs a program of the benchmark in a child process, and parses its line of JSON. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CORES, cores, pinned } from './machine.ts'

const run = promisify(execFile)

/** The timeout of a measurement, in milliseconds. */
const LIMIT = 600_000

export async function readChild<T>(args: readonly string[], on: string | undefined): Promise<T> {
  // Conditions and flags of the parent process would affect the measurement.
  const { NODE_OPTIONS: _, ...env } = process.env
  const [command, given] = pinned(args, on)
  const named = { ...env, NODE_ENV: 'production', ...(cores.length > 0 && { [CORES]: cores.join(',') }) }
  const { stdout } = await run(command, given, { env: named, timeout: LIMIT })
  return JSON.parse(stdout) as T
}

/** A measurement with more disturbance is repeated. The least disturbed measurement counts. */
const MOST_FOREIGN = 0.1
const MOST_ATTEMPTS = 3

/** Repeats disturbed measurements. */
export async function leastDisturbed<S extends { readonly foreign?: number }>(
  attempts: number | undefined,
  measure: () => Promise<S>,
): Promise<S> {
  let best = await measure()
  for (let attempt = 1; attempt < (attempts ?? MOST_ATTEMPTS); attempt++) {
    if (!((best.foreign ?? 0) > MOST_FOREIGN)) break
    const next = await measure()
    if ((next.foreign ?? 0) < (best.foreign ?? 0)) best = next
  }
  return best
}
