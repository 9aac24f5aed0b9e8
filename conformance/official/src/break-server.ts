/** Checks that the suite notices each mutant of the server, and that it passes the unmodified server. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { createEverything } from '@mcpx/everything-server'
import { LATEST_LEGACY_REVISION, LATEST_MODERN_REVISION } from '@mcpx/protocol'
import { type EndpointOptions, mcp } from '@mcpx/transport-http'
import { evaluate, missing, type Verdict } from './evaluate.ts'
import { type Mutant, mutants } from './mutants.ts'
import { collect } from './suite.ts'
import { timed } from './timed.ts'

/** A mutant, or a control without an expected failure. */
export type Candidate = Omit<Mutant, 'check'> & Partial<Pick<Mutant, 'check'>>

const MAX_TRIES = 3

interface AttemptResult {
  readonly verdicts: readonly Verdict[]
  /** The longest stall of the suite, in milliseconds. */
  readonly stalled: number
}

/** The number of concurrent servers. It is small, because some checks of the suite have short timeouts. */
const CONCURRENCY = 2

/** The unmodified server in each scenario, in which no check may fail. */
const controls: readonly Candidate[] = [...new Set(mutants.map(({ scenario }) => scenario))].map((scenario) => ({
  name: `is unmodified, in ${scenario}`,
  scenario,
}))

/** Returns a verdict for each candidate: a control passes if no check fails, a mutant if exactly the expected checks fail. */
export async function breakServer(folder: string): Promise<Verdict[]> {
  const tasks = [...controls, ...mutants].map((mutant) => () => {
    const own = join(folder, mutant.name.replaceAll(/\W+/g, '-'))
    return evaluateWithRetries(mutant, () => testServer(mutant, {}, own))
  })
  const verdicts = new Map<number, Verdict>()
  const queue = [...tasks.entries()]
  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) verdicts.set(next[0], await next[1]())
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return tasks.map((_, index) => verdicts.get(index) as Verdict)
}

/** Repeats an attempt if all unexpected outcomes are of timed checks and the suite stalled for at least their timeout. */
export async function evaluateWithRetries(
  candidate: Candidate,
  attempt: () => Promise<AttemptResult>,
): Promise<Verdict> {
  const again: string[] = []
  for (let tries = 1; ; tries += 1) {
    const { verdicts, stalled } = await attempt()
    const verdict = verdictOn(candidate, verdicts)
    const unexpected = unexpectedChecks(candidate, verdicts)
    const isCausedByStall =
      unexpected.length > 0 && unexpected.every((check) => stalled >= (timed[check] ?? Number.POSITIVE_INFINITY))
    if (verdict.outcome === 'passed' || !isCausedByStall || tries === MAX_TRIES) {
      return { ...verdict, reasons: [...verdict.reasons, ...again] }
    }
    again.push(`tried again: ${unexpected.join(', ')}, while the suite was stalled for ${stalled} ms`)
  }
}

/** Runs the scenario of SSE streams with a server that always responds with a stream. */
export async function serveStreams(folder: string): Promise<Verdict[]> {
  const scenario = 'server-sse-multiple-streams'
  const verdicts = await Promise.all(
    [LATEST_LEGACY_REVISION, LATEST_MODERN_REVISION].map(async (revision) => {
      const { verdicts } = await testServer({ scenario }, { responses: 'events' }, join(folder, revision), revision)
      const [verdict] = verdicts
      return {
        ...(verdict ?? missing(scenario)),
        scenario: `${scenario} of ${revision}, with streams as responses`,
      }
    }),
  )
  return verdicts
}

async function testServer(
  { scenario, breakServer = (server) => server, breakHttp = (fetch) => fetch }: Omit<Candidate, 'name'>,
  options: EndpointOptions,
  folder: string,
  revision: string = LATEST_MODERN_REVISION,
): Promise<AttemptResult> {
  const app = mcp(breakServer(await createEverything()), options)
  const fetch = breakHttp((request) => app.fetch(request))
  const http = serve({ fetch, hostname: '127.0.0.1', port: 0, overrideGlobalObjects: false })
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const choice = ['--scenario', scenario, '--spec-version', revision]
  const { scenarioOutputs, output } = await collect('server', ['--url', url, ...choice], folder)
  app.close()
  http.close()
  return {
    verdicts: scenarioOutputs.map((each) => evaluate(each, { excuses: [], notYet: [] })),
    stalled: output.stalled,
  }
}

function failingChecks(verdicts: readonly Verdict[]): string[] {
  return [...new Set(verdicts.flatMap(({ failing = [] }) => failing))].sort()
}

function expectedChecks({ check, also = [] }: Candidate): string[] {
  return [...(check === undefined ? [] : [check]), ...also].sort()
}

/** Returns the checks that failed unexpectedly, and the checks that were expected to fail but passed. */
function unexpectedChecks(candidate: Candidate, verdicts: readonly Verdict[]): string[] {
  const [found, expected] = [failingChecks(verdicts), expectedChecks(candidate)]
  return [...found.filter((each) => !expected.includes(each)), ...expected.filter((each) => !found.includes(each))]
}

/** Compares the verdicts of the suite with the expected verdicts. */
export function verdictOn(candidate: Candidate, verdicts: readonly Verdict[]): Verdict {
  const { name, scenario } = candidate
  const [verdict] = verdicts
  const [found, expected] = [failingChecks(verdicts), expectedChecks(candidate)]
  const isAsExpected =
    verdicts.length === 1 &&
    verdict?.scenario === scenario &&
    verdict.passed > 0 &&
    unexpectedChecks(candidate, verdicts).length === 0
  return {
    scenario: `a server that ${name}`,
    outcome: isAsExpected ? 'passed' : 'failed',
    passed: isAsExpected ? 1 : 0,
    failed: isAsExpected ? 0 : 1,
    warned: 0,
    skipped: 0,
    reasons: isAsExpected
      ? []
      : [
          `${scenario}: expected failures: ${expected.join(', ') || 'none'}; got: ${found.join(', ') || 'none'}`,
          ...verdicts.flatMap(({ reasons }) => reasons),
        ],
  }
}
