/** Breaks the server in one way after the other, and sees whether the suite notices; one that is whole shows that the suite notices nothing else. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { createEverything } from '@mcpx/everything-server'
import { LATEST_LEGACY_REVISION, LATEST_MODERN_REVISION } from '@mcpx/protocol'
import { type EndpointOptions, mcp } from '@mcpx/transport-http'
import { judge, missing, type Verdict } from './judge.ts'
import { type Mutant, mutants } from './mutants.ts'
import { collect } from './suite.ts'
import { timed } from './timed.ts'

/** A mutant, or a control, which has no check that is to fail. */
export type Tried = Omit<Mutant, 'check'> & Partial<Pick<Mutant, 'check'>>

const TRIES = 3

interface Attempted {
  readonly verdicts: readonly Verdict[]
  /** How long the suite stood still, in ms. */
  readonly stalled: number
}

/** How many are tried at once: the suite decides by its clock whether something was said. */
const AT_ONCE = 2

/** Nothing of it is broken: it goes the same way as the mutants, and has to pass where they have to fail. */
const controls: readonly Tried[] = [...new Set(mutants.map(({ scenario }) => scenario))].map((scenario) => ({
  name: `is whole, in ${scenario}`,
  scenario,
}))

/** A verdict on each: a control passes when nothing fails, a mutant when just those checks fail that are meant to. */
export async function breakServer(folder: string): Promise<Verdict[]> {
  const tasks = [...controls, ...mutants].map((mutant) => () => {
    const own = join(folder, mutant.name.replaceAll(/\W+/g, '-'))
    return tryUntilJudged(mutant, () => tryServer(mutant, {}, own))
  })
  const verdicts = new Map<number, Verdict>()
  const queue = [...tasks.entries()]
  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) verdicts.set(next[0], await next[1]())
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return tasks.map((_, index) => verdicts.get(index) as Verdict)
}

/** Tries a server again when all that is otherwise than meant is for the clock of a suite that stood still to decide, and shows it. */
export async function tryUntilJudged(tried: Tried, attempt: () => Promise<Attempted>): Promise<Verdict> {
  const again: string[] = []
  for (let tries = 1; ; tries += 1) {
    const { verdicts, stalled } = await attempt()
    const verdict = verdictOn(tried, verdicts)
    const odd = surprises(tried, verdicts)
    const isOfTheMachine = odd.length > 0 && odd.every((check) => stalled >= (timed[check] ?? Number.POSITIVE_INFINITY))
    if (verdict.outcome === 'passed' || !isOfTheMachine || tries === TRIES) {
      return { ...verdict, reasons: [...verdict.reasons, ...again] }
    }
    again.push(`tried again: ${odd.join(', ')}, while the suite stood still for ${stalled} ms`)
  }
}

/** The server with streams for answers, wherever its clients take them: the scenario that looks at streams has some to look at. */
export async function serveStreams(folder: string): Promise<Verdict[]> {
  const scenario = 'server-sse-multiple-streams'
  const verdicts = await Promise.all(
    [LATEST_LEGACY_REVISION, LATEST_MODERN_REVISION].map(async (revision) => {
      const { verdicts } = await tryServer({ scenario }, { responses: 'events' }, join(folder, revision), revision)
      const [verdict] = verdicts
      return {
        ...(verdict ?? missing(scenario)),
        scenario: `${scenario} of ${revision}, where all answers are streams`,
      }
    }),
  )
  return verdicts
}

async function tryServer(
  { scenario, breakServer = (server) => server, breakHttp = (fetch) => fetch }: Omit<Tried, 'name'>,
  options: EndpointOptions,
  folder: string,
  revision: string = LATEST_MODERN_REVISION,
): Promise<Attempted> {
  const app = mcp(breakServer(await createEverything()), options)
  const fetch = breakHttp((request) => app.fetch(request))
  const http = serve({ fetch, hostname: '127.0.0.1', port: 0, overrideGlobalObjects: false })
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const choice = ['--scenario', scenario, '--spec-version', revision]
  const { remains, output } = await collect('server', ['--url', url, ...choice], folder)
  app.close()
  http.close()
  return { verdicts: remains.map((each) => judge(each, { excuses: [], notYet: [] })), stalled: output.stalled }
}

function failingIn(verdicts: readonly Verdict[]): string[] {
  return [...new Set(verdicts.flatMap(({ failing = [] }) => failing))].sort()
}

function meantFor({ check, also = [] }: Tried): string[] {
  return [...(check === undefined ? [] : [check]), ...also].sort()
}

/** The checks that failed and should not have, and those that should have failed and did not. */
function surprises(tried: Tried, verdicts: readonly Verdict[]): string[] {
  const [found, meant] = [failingIn(verdicts), meantFor(tried)]
  return [...found.filter((each) => !meant.includes(each)), ...meant.filter((each) => !found.includes(each))]
}

/** What the suite said of a server, beside what it should have said. */
export function verdictOn(tried: Tried, verdicts: readonly Verdict[]): Verdict {
  const { name, scenario } = tried
  const [verdict] = verdicts
  const [found, meant] = [failingIn(verdicts), meantFor(tried)]
  const isAsMeant =
    verdicts.length === 1 &&
    verdict?.scenario === scenario &&
    verdict.passed > 0 &&
    surprises(tried, verdicts).length === 0
  return {
    scenario: `a server that ${name}`,
    outcome: isAsMeant ? 'passed' : 'failed',
    passed: isAsMeant ? 1 : 0,
    failed: isAsMeant ? 0 : 1,
    warned: 0,
    skipped: 0,
    reasons: isAsMeant
      ? []
      : [
          `in ${scenario} there should fail: ${meant.join(', ') || 'nothing'}; there failed: ${found.join(', ') || 'nothing'}`,
          ...verdicts.flatMap(({ reasons }) => reasons),
        ],
  }
}
