/** Makes a run of the suite, and repeats it only if all failures were caused by a stall of the suite. */
import { join } from 'node:path'
import type { RunResults } from './checks.ts'
import { evaluate, missing, type Verdict } from './evaluate.ts'
import { startServer } from './everything-server.ts'
import { excuses } from './excused.ts'
import { notYet } from './not-yet.ts'
import type { Run } from './runs.ts'
import { collect, type Listed, list } from './suite.ts'
import { timed } from './timed.ts'

const MAX_TRIES = 3
/** The timeout of a client, in milliseconds. It is long, because all clients start at once with a low priority. */
const CLIENT_TIMEOUT = '60000'

export interface Attempt {
  readonly verdicts: readonly Verdict[]
  /** The longest stall of the suite, in milliseconds. */
  readonly stalled: number
  /** The scored scenarios. */
  readonly scored: readonly string[]
}

type Collected = Pick<Awaited<ReturnType<typeof collect>>, 'scenarioOutputs' | 'output'>

/** Runs attempts until an attempt is conclusive. `again` contains the failures of earlier attempts. */
export async function runWithRetries(run: Run, attempt: () => Promise<Attempt>): Promise<RunResults> {
  const again: string[] = []
  for (let tries = 1; ; tries += 1) {
    const { verdicts, stalled, scored } = await attempt()
    const reasons = tries < MAX_TRIES ? failuresByStall(verdicts, stalled) : undefined
    if (reasons === undefined) {
      const count = run.scored === undefined ? undefined : scoreOf(verdicts, scored, run.scored)
      return { run: run.name, verdicts: [...verdicts, ...(count?.faults ?? [])], tries, again, scored: count?.score }
    }
    again.push(...reasons)
  }
}

/** Returns the failures if all are of timed checks and the suite stalled for at least their timeouts; otherwise undefined. */
export function failuresByStall(verdicts: readonly Verdict[], stalled: number): string[] | undefined {
  const failed = verdicts.filter(({ outcome }) => outcome === 'failed')
  const isCausedByStall = failed.every(({ failing = [] }) => {
    return failing.length > 0 && failing.every((check) => stalled >= (timed[check] ?? Number.POSITIVE_INFINITY))
  })
  if (failed.length === 0 || !isCausedByStall) return undefined
  return failed.map(
    ({ scenario, failing = [] }) => `${scenario}: ${failing.join(', ')}, while the suite was stalled for ${stalled} ms`,
  )
}

/** Counts the scored scenarios that passed; all of them must pass. */
export function scoreOf(verdicts: readonly Verdict[], scored: readonly string[], needed: number) {
  const good = verdicts.filter(({ outcome }) => outcome === 'passed' || outcome === 'excused')
  const passed = new Set(good.flatMap(({ scenario }) => (scored.includes(scenario) ? scenario : []))).size
  const isEnough = scored.length === needed && passed === needed
  const reason = `${passed} of ${scored.length} scored scenarios passed, expected ${needed}`
  return {
    score: { needed, passed },
    faults: isEnough ? [] : [{ ...missing('(scored)'), reasons: [reason] }],
  }
}

export async function attempt(run: Run, client: string, folder: string): Promise<Attempt> {
  const listing = list(run.role, run.list)
  const server = run.role === 'server' ? await startServer() : undefined
  try {
    const target = server === undefined ? ['--command', client, '--timeout', CLIENT_TIMEOUT] : ['--url', server.url]
    const collected = await collect(run.role, [...target, ...run.choice], join(folder, run.name), { wire: run.wire })
    const listed = await listing
    const errors = server?.errors() ?? ''
    const verdicts = collected.scenarioOutputs.map((each) => evaluate(each, { excuses, notYet }))
    const faults = faultsOf(run, listed, collected, verdicts)
    faults.push(...revisionFaultsOf(run, collected))
    if (errors !== '') faults.push({ ...missing('(server)'), reasons: [`stderr: ${errors}`] })
    return { verdicts: [...verdicts, ...faults], stalled: collected.output.stalled, scored: listed.scored }
  } finally {
    await server?.stop()
  }
}

/** The first revision with the header `mcp-protocol-version`. */
const FIRST_WITH_HEADER = '2025-06-18'

/** Returns a fault for each side that used a different revision than the run, in messages or headers. In all runs the
 * messages of our client after the handshake must have the header.
 */
export function revisionFaultsOf(
  { role, wire }: Pick<Run, 'role' | 'wire'>,
  { scenarioOutputs, output }: Collected,
): Verdict[] {
  const sides = role === 'client' ? scenarioOutputs : [{ scenario: 'the suite', ...output }]
  return sides.flatMap(({ scenario, messageRevisions = [], headerRevisions = [] }) => {
    const reason =
      wire === undefined
        ? role === 'client' && missingHeader(messageRevisions, headerRevisions)
        : wrongRevision(wire, messageRevisions, headerRevisions)
    return reason ? [{ ...missing('(wire)'), reasons: [`${scenario}: ${reason}`] }] : []
  })
}

type Revisions = readonly string[]

function wrongRevision(wire: string, messageRevisions: Revisions, headerRevisions: Revisions): string | undefined {
  const found = wire < FIRST_WITH_HEADER ? headerRevisions.filter((each) => each !== 'none') : headerRevisions
  const headersMatch = found.join() === wire || (wire < FIRST_WITH_HEADER && found.length === 0)
  if (messageRevisions.join() === wire && headersMatch) return undefined
  const [inMessages, inHeaders] = [messageRevisions, headerRevisions].map((all) => all.join(', ') || 'nothing')
  return `expected ${wire}, got ${inMessages} in messages and ${inHeaders} in headers`
}

function missingHeader(messageRevisions: Revisions, headerRevisions: Revisions): string | undefined {
  if (!headerRevisions.includes('none') || messageRevisions.some((each) => each < FIRST_WITH_HEADER)) return undefined
  return 'a message after the handshake has no revision header'
}

/** Returns the faults of a whole run. The faults of its scenarios are not included. */
export function faultsOf(
  { scenarios }: Run,
  { all }: Listed,
  { scenarioOutputs, output }: Collected,
  verdicts: readonly Verdict[],
): Verdict[] {
  const ran = scenarioOutputs.map(({ scenario }) => scenario)
  const fault = (reason: string): Verdict => ({ ...missing('(all)'), reasons: [reason] })
  const faults = all.filter((name) => !ran.includes(name)).map(missing)
  if (scenarioOutputs.length !== scenarios)
    faults.push(fault(`${scenarioOutputs.length} scenarios ran, expected ${scenarios}`))
  if (new Set(ran).size < ran.length) faults.push(fault('a scenario ran twice'))
  const withError = scenarioOutputs.filter(({ clientError }) => clientError !== '').length
  const ends = output.text.match(/^Client (?:exited with code \d+|timed out after \d+ms)$/gm) ?? []
  if (ends.length !== withError)
    faults.push(fault(`${ends.length} clients failed, and ${withError} printed an error: ${ends}`))
  const isGood = verdicts.every(({ outcome }) => outcome === 'passed' || outcome === 'excused')
  if (isGood && output.code !== 0)
    faults.push(fault(`the suite ended with code ${output.code}: ${output.text.slice(-300)}`))
  return faults
}
