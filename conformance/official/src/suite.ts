/** Runs the official suite as a child process, and reads its output. */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Check, ScenarioOutput } from './evaluate.ts'

const home = fileURLToPath(new URL('../node_modules/@modelcontextprotocol/conformance/', import.meta.url))
const program = join(home, 'dist', 'index.js')
/** Makes the servers of the suite listen on 127.0.0.1, to which localhost resolves. */
const preload = new URL('./preload.mjs', import.meta.url).href
const env = { ...process.env, NODE_OPTIONS: `--import ${preload} --dns-result-order=ipv4first` }

/** The timeout of a run, in milliseconds; a run takes a few seconds. */
const TIMEOUT = 120_000

export type SuiteRole = 'server' | 'client' | 'authorization server'

export interface Output {
  readonly text: string
  /** The longest stall of the suite, in milliseconds. */
  readonly stalled: number
  /** The revisions in the messages of the suite. */
  readonly messageRevisions: readonly string[]
  /** The revisions in the headers of its messages after the handshake; `none` for a missing header. */
  readonly headerRevisions: readonly string[]
  /** The exit code of the suite. */
  readonly code: number | null
}

export interface SuiteOptions {
  /** The revision of the suite's own client. */
  readonly wire?: string | undefined
  /** Called with all output so far. */
  readonly onOutput?: (text: string) => void
}

/** Runs the suite; resolves to its output. */
export function conformance(args: readonly string[], { wire, onOutput }: SuiteOptions = {}): Promise<Output> {
  return new Promise((resolve, reject) => {
    const own = wire === undefined ? env : { ...env, CONFORMANCE_WIRE: wire }
    const child = spawn(process.execPath, [program, ...args], { env: own, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    const keep = (chunk: string) => {
      text += chunk
      onOutput?.(text)
    }
    const timer = setTimeout(() => {
      keep(`\nkilled after ${TIMEOUT} ms\n`)
      child.kill()
    }, TIMEOUT)
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ text, code, stalled: Number(/^stalled for (\d+) ms$/m.exec(text)?.[1] ?? 0), ...parseRevisions(text) })
    })
  })
}

/** Runs scenarios and reads their output in a folder, which is emptied before. */
export async function collect(
  role: SuiteRole,
  args: readonly string[],
  folder: string,
  options: SuiteOptions = {},
): Promise<{ scenarioOutputs: ScenarioOutput[]; output: Output }> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const command = role === 'authorization server' ? 'authorization' : role
  const output = await conformance([command, ...args, '--output-dir', folder], options)
  return { scenarioOutputs: readOutputs(role, folder), output }
}

/** Reads the folders of scenarios, named by scenario and start time; some scenario names contain a slash. */
function readOutputs(role: SuiteRole, folder: string): ScenarioOutput[] {
  const moment = /-\d{4}-\d\d-\d\dT[\d-]+Z$/
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && moment.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => {
      const name = join(relative(folder, dirname(path)), basename(path).replace(moment, ''))
      const scenario = role === 'client' ? name : name.replace(/^(?:authorization-)?server-/, '')
      const checks = read(join(path, 'checks.json'))
      return {
        scenario,
        checks: checks === undefined ? undefined : (JSON.parse(checks) as Check[]),
        clientError: firstLine(read(join(path, 'stderr.txt')) ?? ''),
        ...parseRevisions(read(join(path, 'stdout.txt')) ?? ''),
      }
    })
    .sort((a, b) => a.scenario.localeCompare(b.scenario))
}

/** Returns the first line with an error name, because a crash of Node prints the location first. */
function firstLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0] ?? ''
}

/** Parses the revisions that `record-revisions.mjs` printed. */
function parseRevisions(text: string): Pick<Output, 'messageRevisions' | 'headerRevisions'> {
  const parse = (pattern: RegExp) => pattern.exec(text)?.[1]?.split(', ') ?? []
  return { messageRevisions: parse(/^messages (.+)$/m), headerRevisions: parse(/^headers (.+)$/m) }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

export interface Listed {
  readonly all: readonly string[]
  /** The scored scenarios. Scenarios that are only reported are not included. */
  readonly scored: readonly string[]
}

/** Lists the scenarios of a selection. */
export async function list(role: SuiteRole, choice: readonly string[]): Promise<Listed> {
  const { text } = await conformance(['list', ...choice])
  const scored: string[] = []
  const reported: string[] = []
  let section: string = 'none'
  for (const line of text.split('\n')) {
    const heading = /^(Server|Client|Authorization server) scenarios|^Run and reported/.exec(line)
    if (heading !== null) section = heading[1]?.toLowerCase() ?? 'reported'
    const [, name = '', mark] = /^\s+- (\S+)(?: \[(.*)\])?$/.exec(line) ?? []
    if (name !== '' && section === role) scored.push(name)
    if (name !== '' && section === 'reported' && mark === role) reported.push(name)
  }
  return { all: [...scored, ...reported], scored }
}

/** Returns the source of the suite, to search for names. */
export function suiteText(): string {
  return readFileSync(program, 'utf8')
}

/** Returns the version, for example `0.2.0-alpha.12`. */
export function suiteVersion(): string {
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version
}
