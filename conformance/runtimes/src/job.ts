/** The jobs and reports of clients, which are passed as JSON. */

import type { Connector, Era } from '@mcpx/protocol'
import { http } from '@mcpx/transport-http/client'
import { type CheckResult, type KnownFailure, runSuite } from './suite.ts'

/** The server to test. */
export type Target = { readonly url: string } | { readonly command: string; readonly args: readonly string[] }

export interface Job {
  /** The runtime of the server. */
  readonly server: string
  readonly target: Target
  /** The known failures of the runtime of the server, for each era. */
  readonly limited: Readonly<Record<Era, readonly KnownFailure[]>>
}

export interface Report {
  readonly server: string
  readonly transport: 'http' | 'stdio'
  readonly era: Era
  readonly results: readonly CheckResult[]
}

/** Starts a server process. Undefined on runtimes that cannot start processes. */
export type Start = (command: string, args: readonly string[]) => Connector

/** Runs the jobs one after the other. Never rejects. */
export async function runJobs(jobs: readonly Job[], start?: Start): Promise<Report[]> {
  const reports: Report[] = []
  for (const { server, target, limited } of jobs) {
    for (const era of ['modern', 'legacy'] as const) {
      const transport = 'url' in target ? 'http' : 'stdio'
      reports.push({ server, transport, era, results: await runSuite(() => reach(target, start), era, limited[era]) })
    }
  }
  return reports
}

function reach(target: Target, start: Start | undefined): Connector {
  if ('url' in target) return http(target.url)
  if (start === undefined) throw new Error('target: expected a URL on this runtime, got a command')
  return start(target.command, target.args)
}
