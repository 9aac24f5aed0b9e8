/** Runs the checks of one server or client from npm. */

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { thirdPartyException } from './exceptions.ts'
import { type CheckResult, evaluateOutcome, outcomeOf } from './outcome.ts'
import { versionOf } from './package-versions.ts'
import { commandFor, type Servers } from './peers.ts'
import type { Check, ThirdParty } from './third-party/third-party.ts'

export interface ThirdPartyResults {
  readonly package: string
  readonly version: string
  readonly is: ThirdParty['is']
  readonly over: string
  readonly checks: readonly CheckResult[]
}

/** The timeouts of one check and of all checks together, in milliseconds. */
const CHECK_TIMEOUT = 15_000
const TOTAL_TIMEOUT = 60_000

export async function runThirdParty(thirdParty: ThirdParty, { urls }: Servers): Promise<ThirdPartyResults> {
  const { package: name, is, over } = thirdParty
  const checks: CheckResult[] = []
  const check: Check = async (checkName, body) => {
    const error = await outcomeOf(body(), CHECK_TIMEOUT)
    checks.push({ name: checkName, ...evaluateOutcome(error, thirdPartyException(name, over, checkName)) })
  }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'interop-')))
  const environment = { url: urls.ours ?? '', command: commandFor('ours'), folder }
  try {
    const error = await outcomeOf(thirdParty.run(check, environment), TOTAL_TIMEOUT)
    if (error !== undefined) checks.push({ name: 'starts, connects and closes', ...evaluateOutcome(error, undefined) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { package: name, version: versionOf(name), is, over, checks }
}
