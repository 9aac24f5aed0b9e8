/** What runs where: which runtimes serve, which call, and how each is started. */
import { join } from 'node:path'
import type { Era } from '@mcpx/protocol'
import { out } from './bundle.ts'
import { runInChromium } from './chromium.ts'
import type { Job, Report, Target } from './job.ts'
import { end, start } from './programs.ts'
import type { Runtime, RuntimeName } from './runtimes.ts'
import type { Limited } from './smoke.ts'
import { startWorker } from './workerd.ts'

/** How a runtime runs a file. Those that are not here run no programs. */
const commands: Partial<Record<RuntimeName, readonly string[]>> = {
  node20: ['--unhandled-rejections=strict'],
  node22: ['--unhandled-rejections=strict'],
  node24: ['--unhandled-rejections=strict'],
  bun: ['run'],
  deno: ['run', '--allow-all', '--quiet'],
}

/**
 * What a runtime cannot do as a server, with the reason and a pattern of how it fails. A client that has closed its
 * connection looks to these like one that still listens until something is written to it. With some clients they may
 * notice: a connection that Bun resets is gone to workerd, and Deno sees at times that nothing more is to be read.
 */
export const limits: readonly Limit[] = (['deno', 'workerd'] as const).map((server) => ({
  server,
  carrier: 'http',
  era: 'modern',
  check: 'cancels a silent call, and the server stops',
  evidence: '^Error: the server goes on, after ',
  why: 'it notices that a client has gone only when it writes to it',
}))

interface Limit extends Limited {
  readonly server: RuntimeName
  readonly carrier: Report['carrier']
  readonly era: Era
  readonly why: string
}

/** The limits that a conversation may meet. */
export function limitsOf({ server, carrier, era }: Omit<Report, 'results'>): Limit[] {
  return limits.filter((limit) => limit.server === server && limit.carrier === carrier && limit.era === era)
}

function job(server: RuntimeName, target: Target): Job {
  const carrier = 'url' in target ? 'http' : 'stdio'
  const of = (era: Era): Limited[] => limitsOf({ server, carrier, era })
  return { server, target, limited: { modern: of('modern'), legacy: of('legacy') } }
}

/** Starts all servers; each is a job for every client. */
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

/** A client starts these itself. */
function overStdio({ name, path }: Runtime): Job[] {
  const flags = commands[name]
  if (flags === undefined) return []
  return [job(name, { command: path, args: [...flags, join(out, 'serve-stdio.js')] })]
}

/**
 * Has the client of a runtime do the jobs that it can do: with each server over HTTP; over pipes, where each connection
 * starts a process, with its own kind and to and from the newest Node.
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
  const mine = jobs.filter(
    ({ target, server }) => 'url' in target || [name, 'node24'].includes(server) || name === 'node24',
  )
  const program = start(path, [...(commands[name] ?? []), join(out, 'client.js'), JSON.stringify(mine)])
  return JSON.parse(await program.ended()) as Report[]
}
