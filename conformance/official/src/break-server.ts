/** Breaks the server in one way after the other, and sees whether the suite notices. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { createEverything } from '@mcpx/everything-server'
import { mcp } from '@mcpx/transport-http'
import { judge, type Verdict } from './judge.ts'
import { type Mutant, mutants } from './mutants.ts'
import { collect } from './suite.ts'

/** A verdict on each mutant: it passes when the scenario fails for the reason that is expected. */
export function breakServer(folder: string): Promise<Verdict[]> {
  return Promise.all(mutants.map((mutant) => tryMutant(mutant, folder)))
}

async function tryMutant(mutant: Mutant, folder: string): Promise<Verdict> {
  const { scenario, check, name, breakServer = (server) => server, breakHttp = (fetch) => fetch } = mutant
  const app = mcp(breakServer(await createEverything()))
  const fetch = breakHttp((request) => app.fetch(request))
  const http = serve({ fetch, hostname: '127.0.0.1', port: 0, overrideGlobalObjects: false })
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const { remains } = await collect('server', ['--url', url, '--scenario', scenario], join(folder, check))
  app.close()
  http.close()
  const verdicts = remains.map((each) => judge(each, { excuses: [], notYet: [] }))
  const wanted = [`FAILURE ${check}:`, `WARNING ${check}:`]
  const isSeen = verdicts.some(({ outcome, reasons }) => {
    return outcome === 'failed' && reasons.some((reason) => wanted.some((each) => reason.startsWith(each)))
  })
  const found = verdicts.flatMap(({ reasons }) => reasons)
  return {
    scenario: `a server that ${name}`,
    outcome: isSeen ? 'passed' : 'failed',
    passed: isSeen ? 1 : 0,
    failed: isSeen ? 0 : 1,
    warned: 0,
    skipped: 0,
    reasons: isSeen ? [] : [`${scenario} did not fail by ${check}`, ...found],
  }
}
