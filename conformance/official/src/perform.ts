/** Makes one run of the suite, and makes it again only when the suite could not judge. */
import { join } from 'node:path'
import type { RunResults } from './checks.ts'
import { startServer } from './everything-server.ts'
import { excuses } from './excused.ts'
import { judge, missing, type Verdict } from './judge.ts'
import { notYet } from './not-yet.ts'
import type { Run } from './runs.ts'
import { collect, type Listed, list } from './suite.ts'
import { timed } from './timed.ts'

const TRIES = 3
/** How long a client may take, in ms: it starts with all the others, and gets what is left of the machine. */
const PATIENCE = '60000'

export interface Attempt {
  readonly verdicts: readonly Verdict[]
  /** How long the suite stood still, in ms. */
  readonly stalled: number
  /** The scenarios that are scored. */
  readonly scored: readonly string[]
}

type Collected = Pick<Awaited<ReturnType<typeof collect>>, 'remains' | 'output'>

/** What failed before is kept beside what came of it. */
export async function perform(run: Run, attempt: () => Promise<Attempt>): Promise<RunResults> {
  const again: string[] = []
  for (let tries = 1; ; tries += 1) {
    const { verdicts, stalled, scored } = await attempt()
    const reasons = tries < TRIES ? excuseOfTheMachine(verdicts, stalled) : undefined
    if (reasons === undefined) {
      const count = run.scored === undefined ? undefined : scoreOf(verdicts, scored, run.scored)
      return { run: run.name, verdicts: [...verdicts, ...(count?.faults ?? [])], tries, again, scored: count?.score }
    }
    again.push(...reasons)
  }
}

/** What failed, if each of it was for a clock to decide, and the suite stood still for as long; nothing else is an excuse. */
export function excuseOfTheMachine(verdicts: readonly Verdict[], stalled: number): string[] | undefined {
  const failed = verdicts.filter(({ outcome }) => outcome === 'failed')
  const isOfTheMachine = failed.every(({ failing = [] }) => {
    return failing.length > 0 && failing.every((check) => stalled >= (timed[check] ?? Number.POSITIVE_INFINITY))
  })
  if (failed.length === 0 || !isOfTheMachine) return undefined
  return failed.map(
    ({ scenario, failing = [] }) => `${scenario}: ${failing.join(', ')}, while the suite stood still for ${stalled} ms`,
  )
}

/** The scored scenarios that passed, of how many there have to be: all of them. */
export function scoreOf(verdicts: readonly Verdict[], scored: readonly string[], needed: number) {
  const good = verdicts.filter(({ outcome }) => outcome === 'passed' || outcome === 'excused')
  const passed = new Set(good.flatMap(({ scenario }) => (scored.includes(scenario) ? scenario : []))).size
  const isEnough = scored.length === needed && passed === needed
  const reason = `${passed} of ${scored.length} scored scenarios passed, and there have to be ${needed}`
  return {
    score: { needed, passed },
    faults: isEnough ? [] : [{ ...missing('(scored)'), reasons: [reason] }],
  }
}

export async function attempt(run: Run, client: string, folder: string): Promise<Attempt> {
  const listing = list(run.role, run.list)
  const server = run.role === 'server' ? await startServer() : undefined
  try {
    const target = server === undefined ? ['--command', client, '--timeout', PATIENCE] : ['--url', server.url]
    const collected = await collect(run.role, [...target, ...run.choice], join(folder, run.name), run.wire)
    const listed = await listing
    const complaints = server?.complaints() ?? ''
    const verdicts = collected.remains.map((each) => judge(each, { excuses, notYet }))
    const faults = faultsOf(run, listed, collected, verdicts)
    faults.push(...wireFaultsOf(run, collected))
    if (complaints !== '') faults.push({ ...missing('(server)'), reasons: [`complained: ${complaints}`] })
    return { verdicts: [...verdicts, ...faults], stalled: collected.output.stalled, scored: listed.scored }
  } finally {
    await server?.stop()
  }
}

/** The first revision whose clients say in a header which one was agreed upon. */
const FIRST_WITH_HEADER = '2025-06-18'

/**
 * Each side that asked for another revision than the run is for, or for none, or that said another in a header. What is sent
 * after a handshake has that header in any run of our client.
 */
export function wireFaultsOf({ role, wire }: Pick<Run, 'role' | 'wire'>, { remains, output }: Collected): Verdict[] {
  const sides = role === 'client' ? remains : [{ scenario: 'the suite', ...output }]
  return sides.flatMap(({ scenario, spoken = [], headers = [] }) => {
    const reason =
      wire === undefined ? role === 'client' && headerless(spoken, headers) : strayed(wire, spoken, headers)
    return reason ? [{ ...missing('(wire)'), reasons: [`${scenario}: ${reason}`] }] : []
  })
}

type Named = readonly string[]

function strayed(wire: string, spoken: Named, headers: Named): string | undefined {
  const named = wire < FIRST_WITH_HEADER ? headers.filter((each) => each !== 'none') : headers
  const isSaid = named.join() === wire || (wire < FIRST_WITH_HEADER && named.length === 0)
  if (spoken.join() === wire && isSaid) return undefined
  const [asked, said] = [spoken, headers].map((all) => all.join(', ') || 'nothing')
  return `${wire} was to be spoken, and what was sent asks for ${asked}, and says ${said}`
}

function headerless(spoken: Named, headers: Named): string | undefined {
  if (!headers.includes('none') || spoken.some((each) => each < FIRST_WITH_HEADER)) return undefined
  return 'what was sent after the handshake has no header that says the revision'
}

/** What is wrong with a run as a whole, whatever its scenarios say. */
export function faultsOf(
  { scenarios }: Run,
  { all }: Listed,
  { remains, output }: Collected,
  verdicts: readonly Verdict[],
): Verdict[] {
  const ran = remains.map(({ scenario }) => scenario)
  const fault = (reason: string): Verdict => ({ ...missing('(all)'), reasons: [reason] })
  const faults = all.filter((name) => !ran.includes(name)).map(missing)
  if (remains.length !== scenarios) faults.push(fault(`${remains.length} scenarios ran, and ${scenarios} should have`))
  if (new Set(ran).size < ran.length) faults.push(fault('a scenario ran twice'))
  const unhappy = remains.filter(({ complaint }) => complaint !== '').length
  const ends = output.text.match(/^Client (?:exited with code \d+|timed out after \d+ms)$/gm) ?? []
  if (ends.length !== unhappy) faults.push(fault(`${ends.length} clients failed, and ${unhappy} said why: ${ends}`))
  const isGood = verdicts.every(({ outcome }) => outcome === 'passed' || outcome === 'excused')
  if (isGood && output.code !== 0)
    faults.push(fault(`the suite ended with code ${output.code}: ${output.text.slice(-300)}`))
  return faults
}
