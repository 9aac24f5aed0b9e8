/** The servers and clients of each runtime, how they are started, and known limits. */
import { join } from 'node:path'
import type { Era } from '@mcpx/protocol'
import { out } from './bundle.ts'
import { runInChromium } from './chromium.ts'
import type { Job, Report, Target } from './job.ts'
import { end, start } from './programs.ts'
import type { Runtime, RuntimeName } from './runtimes.ts'
import type { KnownFailure } from './suite.ts'
import { startWorker } from './workerd.ts'

/** The arguments with which a runtime runs a file; other runtimes run no programs. */
const commands: Partial<Record<RuntimeName, readonly string[]>> = {
  node20: ['--unhandled-rejections=strict'],
  node22: ['--unhandled-rejections=strict'],
  node24: ['--unhandled-rejections=strict'],
  bun: ['run'],
  deno: ['run', '--allow-all', '--quiet'],
}

/** Known failures of runtimes as servers, with the reason and a pattern of the error. These runtimes notice a closed connection
 * only when they write to it. With some clients the check passes: workerd notices connections that Bun resets, and Deno
 * sometimes notices the end of the input.
 */
export const limits: readonly Limit[] = (['deno', 'workerd'] as const).map((server) => ({
  server,
  transport: 'http',
  era: 'modern',
  check: 'cancels a silent call, and the server stops',
  evidence: '^Error: the server did not stop, after ',
  reason: 'it notices a closed connection only when it writes to it',
}))

interface Limit extends KnownFailure {
  readonly server: RuntimeName
  readonly transport: Report['transport']
  readonly era: Era
  readonly reason: string
}

/** Returns the limits of a server with a transport and era. */
export function limitsOf({ server, transport, era }: Omit<Report, 'results'>): Limit[] {
  return limits.filter((limit) => limit.server === server && limit.transport === transport && limit.era === era)
}

function job(server: RuntimeName, target: Target): Job {
  const transport = 'url' in target ? 'http' : 'stdio'
  const of = (era: Era): KnownFailure[] => limitsOf({ server, transport, era })
  return { server, target, limited: { modern: of('modern'), legacy: of('legacy') } }
}

/** Starts all servers, and returns a job for each server. Every client runs the jobs. */
export async function startServers(runtimes: readonly Runtime[]): Promise<Job[]> {
  const started = await Promise.all(runtimes.map(async (each) => [...(await overHttp(each)), ...overStdio(each)]))
  return started.flat()
}

async function overHttp({ name, path }: Runtime): Promise<Job[]> {
  if (name === 'chromium') return []
  if (name === 'workerd') {
    const { url } = await startWorker(path, 'serve-workerd')
    return [job(name, { url: `${url}/mcp` })]
  }
  const file = `serve-${name.replace(/\d+$/, '')}.js`
  const program = start(path, [...(commands[name] ?? []), join(out, file)])
  return [job(name, { url: await program.line(/^http:/) })]
}

/** The servers that the client starts. */
function overStdio({ name, path }: Runtime): Job[] {
  const flags = commands[name]
  if (flags === undefined) return []
  return [job(name, { command: path, args: [...flags, join(out, 'serve-stdio.js')] })]
}

/** Runs the jobs of a client: with every server over HTTP, and over stdio with servers of the same runtime, and with Node 24 as
 * server or client.
 */
export async function runClient({ name, path }: Runtime, jobs: readonly Job[]): Promise<Report[]> {
  const online = jobs.filter(({ target }) => 'url' in target)
  if (name === 'chromium') return runInChromium(path, online)
  if (name === 'workerd') {
    const { program, url } = await startWorker(path, 'client-workerd')
    try {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(online) })
      if (!response.ok) throw new Error(`the worker answered with ${response.status}: ${await response.text()}`)
      return (await response.json()) as Report[]
    } finally {
      end(program)
    }
  }
  const ownJobs = jobs.filter(
    ({ target, server }) => 'url' in target || [name, 'node24'].includes(server) || name === 'node24',
  )
  const program = start(path, [...(commands[name] ?? []), join(out, 'client.js'), JSON.stringify(ownJobs)])
  return JSON.parse(await program.ended()) as Report[]
}
