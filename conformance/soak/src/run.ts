/** Runs the test: starts the servers, creates the load, takes samples, and waits until all resources are freed. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Settings } from './command-line.ts'
import { Load } from './load.ts'
import { type Held, type ProcessReport, type ServerProcess, startServer } from './processes.ts'
import { observeResources, type Resources } from './resources.ts'
import { countHandles, latencyOf, type Recording, type Sample } from './samples.ts'
import { LONGEST_OPERATION, Tally } from './tally.ts'

/** The number of samples of a run, and the bounds of the time between two samples, in ms. */
const SAMPLES = 120
const SHORTEST_INTERVAL = 3_000
/** How long a sample waits for running operations, in ms. In a short run, a part of its duration if that is shorter. */
const QUIET = 10_000
const QUIET_PART = 1 / 30
/** The time between two kills of the server process, in ms. */
const KILL_INTERVAL = { least: 8_000, most: 60_000, part: 12 }
/** How long the server may take to free its resources after the last client, in ms. Sessions expire in this time. */
const REST = 60_000
const NOTHING: Held = { sessions: 0, streams: 0, requests: 0 }

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Runs the load. `note` receives lines of progress. */
export async function run(settings: Settings, note: (line: string) => void): Promise<Recording> {
  const folder = mkdtempSync(join(tmpdir(), 'mcpx-soak-'))
  const { defects, duration, faults } = settings
  const options = { file: join(folder, 'store.sqlite'), defects }
  const servers: ServerProcess[] = []
  try {
    const steady = await startServer(options)
    servers.push(steady)
    const killed = faults ? await startServer(options) : steady
    if (faults) servers.push(killed)
    const look = observeResources()
    const before = { server: (await steady.look()).resources, client: look() }
    const tally = new Tally()
    const load = new Load(settings, { steady: steady.url, killed: killed.url }, tally)
    await load.start()
    if (faults) {
      const { least, most, part } = KILL_INTERVAL
      const restart = async () => {
        const server = await startServer({ ...options, port: Number(new URL(killed.url).port) })
        servers[1] = server
        return server
      }
      load.killRepeatedly(killed, restart, Math.min(most, Math.max(least, duration / part)))
    }
    const samples = await takeSamples({ duration, look, server: steady, load, tally, note })
    note('The load ends.')
    await Promise.race([load.stop(), pause(LONGEST_OPERATION + QUIET)])
    const lost = tally.running
    const { resources, running, problems, held } = await waitForRest(steady, before.server, Math.min(REST, duration))
    return {
      samples,
      rest: {
        server: { before: before.server, after: resources },
        client: { before: before.client, after: look() },
      },
      running,
      held,
      outcomes: Object.fromEntries([...tally.outcomes].map(([name, counts]) => [name, Object.fromEntries(counts)])),
      failed: tally.failed,
      failures: tally.failures,
      changes: { made: load.listeners.changes, longestDelay: Math.round(load.listeners.longestDelay) },
      problems: { server: problems, clients: load.warnings },
      lost,
      exit: steady.exit,
    }
  } finally {
    await Promise.all(servers.map((server) => server.kill()))
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Sampling {
  readonly duration: number
  readonly look: () => Resources
  readonly server: ServerProcess
  readonly load: Load
  readonly tally: Tally
  readonly note: (line: string) => void
}

async function takeSamples({ duration, look, server, load, tally, note }: Sampling): Promise<Sample[]> {
  const begin = performance.now()
  const interval = Math.max(SHORTEST_INTERVAL, duration / SAMPLES)
  const quiet = Math.min(QUIET, duration * QUIET_PART)
  const samples: Sample[] = []
  let [lastEnded, lastTime] = [0, begin]
  while (performance.now() - begin < duration && server.exit === undefined) {
    await pause(interval)
    const now = performance.now()
    const throughput = Math.round(((tally.ended - lastEnded) / (now - lastTime)) * 10_000) / 10
    load.pace.pause()
    for (const end = now + quiet; tally.running > 0 && performance.now() < end; ) await pause(10)
    const latency = latencyOf(tally.takeDurations())
    const processes: Record<string, Resources> = { client: look() }
    const report = server.exit === undefined ? await server.look() : undefined
    if (report !== undefined) processes.server = report.resources
    for (const [name, lookAt] of load.pipes) processes[`server (${name})`] = (await lookAt()).resources
    const { messages, held } = report ?? {}
    const at = Math.round(now - begin)
    const sample: Sample = { at, operations: tally.ended, throughput, latency, messages, held, processes }
    samples.push(sample)
    note(describe(sample, tally))
    // Lets the client notice the connections that were closed meanwhile.
    await pause(50)
    lastEnded = tally.ended
    lastTime = performance.now()
    load.pace.resume()
  }
  return samples
}

function describe({ at, operations, throughput, latency, processes }: Sample, { failed }: Tally): string {
  const { client, server } = processes
  const heap = (resources?: Resources) => (resources ? `${(resources.heap / 1e6).toFixed(1)} MB` : 'ended')
  return [
    `${(at / 1_000).toFixed().padStart(5)} s`,
    `${operations} operations (${throughput}/s)`,
    `p50 ${latency?.p50 ?? '-'} ms, p99 ${latency?.p99 ?? '-'} ms`,
    `heap: server ${heap(server)}, client ${heap(client)}`,
    `handles: ${server ? countHandles(server) : '-'}, ${client ? countHandles(client) : '-'}`,
    `${failed} failures`,
  ].join('; ')
}

/** Waits until the server has freed the resources of its clients: sessions have expired, and streams are closed. */
async function waitForRest(server: ServerProcess, before: Resources, rest: number): Promise<ProcessReport> {
  for (const end = performance.now() + rest; ; await pause(1_000)) {
    if (server.exit !== undefined) return { resources: before, running: 0, problems: {}, messages: 0, held: NOTHING }
    const report = await server.look()
    const { sessions, streams, requests } = report.held
    const isFreed = report.running + sessions + streams + requests === 0
    const isAtRest = isFreed && countHandles(report.resources) <= countHandles(before)
    if (isAtRest || performance.now() > end) return report
  }
}
