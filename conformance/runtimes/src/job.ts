/** What a client is sent to do, and what it brings back; both travel as JSON. */

import type { Connector, Era } from '@mcpx/protocol'
import { http } from '@mcpx/transport-http/client'
import { type CheckResult, type Limited, smoke } from './smoke.ts'

/** A server to be tried. */
export type Target = { readonly url: string } | { readonly command: string; readonly args: readonly string[] }

export interface Job {
  /** The runtime of the server. */
  readonly server: string
  readonly target: Target
  /** The checks that the runtime of the server is known to fail, for each era. */
  readonly limited: Readonly<Record<Era, readonly Limited[]>>
}

export interface Report {
  readonly server: string
  readonly carrier: 'http' | 'stdio'
  readonly era: Era
  readonly results: readonly CheckResult[]
}

/** How a program is started; runtimes that start none leave it out. */
export type Start = (command: string, args: readonly string[]) => Connector

/** Does one job after the other. It never rejects. */
export async function work(jobs: readonly Job[], start?: Start): Promise<Report[]> {
  const reports: Report[] = []
  for (const { server, target, limited } of jobs) {
    for (const era of ['modern', 'legacy'] as const) {
      const carrier = 'url' in target ? 'http' : 'stdio'
      reports.push({ server, carrier, era, results: await smoke(() => reach(target, start), era, limited[era]) })
    }
  }
  return reports
}

function reach(target: Target, start: Start | undefined): Connector {
  if ('url' in target) return http(target.url)
  if (start === undefined) throw new Error('no programs are started here')
  return start(target.command, target.args)
}
