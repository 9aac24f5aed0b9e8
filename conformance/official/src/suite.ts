/** Runs the official suite as a program, and collects what it writes down. */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Check, Remains } from './judge.ts'

const home = fileURLToPath(new URL('../node_modules/@modelcontextprotocol/conformance/', import.meta.url))
const program = join(home, 'dist', 'index.js')
/** Has the suite's own servers listen on the loopback address; localhost is that address, too. */
const preload = new URL('./preload.mjs', import.meta.url).href
const env = { ...process.env, NODE_OPTIONS: `--import ${preload} --dns-result-order=ipv4first` }

/** The longest that a run may take, in ms; it needs a few seconds. */
const LIMIT = 120_000

export interface Output {
  readonly text: string
  /** How long the suite itself was kept from its work, in ms. */
  readonly stalled: number
  /** The revisions that the messages of the suite itself named. */
  readonly spoken: readonly string[]
  /** Those in the headers of what it sent after handshakes, and `none`. */
  readonly headers: readonly string[]
  /** What the suite itself thinks of it: 0 when nothing failed. */
  readonly code: number | null
}

/** Runs the suite, with its own client asking for a revision; resolves to what it printed. At the limit it is ended. */
export function conformance(args: readonly string[], wire?: string): Promise<Output> {
  return new Promise((resolve, reject) => {
    const own = wire === undefined ? env : { ...env, CONFORMANCE_WIRE: wire }
    const child = spawn(process.execPath, [program, ...args], { env: own, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    const keep = (chunk: string) => {
      text += chunk
    }
    const timer = setTimeout(() => {
      keep(`\nended after ${LIMIT} ms\n`)
      child.kill()
    }, LIMIT)
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ text, code, stalled: Number(/^stalled for (\d+) ms$/m.exec(text)?.[1] ?? 0), ...toldIn(text) })
    })
  })
}

/** Runs scenarios and collects what is left of them in a folder, which is emptied before. */
export async function collect(
  role: 'server' | 'client',
  args: readonly string[],
  folder: string,
  wire?: string,
): Promise<{ remains: Remains[]; output: Output }> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const output = await conformance([role, ...args, '--output-dir', folder], wire)
  return { remains: readRemains(role, folder), output }
}

/** The folder of a scenario is called by its name and the moment it began; the names of some have folders of their own. */
function readRemains(role: 'server' | 'client', folder: string): Remains[] {
  const moment = /-\d{4}-\d\d-\d\dT[\d-]+Z$/
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && moment.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => {
      const name = join(relative(folder, dirname(path)), basename(path).replace(moment, ''))
      const scenario = role === 'server' ? name.replace(/^server-/, '') : name
      const checks = read(join(path, 'checks.json'))
      return {
        scenario,
        checks: checks === undefined ? undefined : (JSON.parse(checks) as Check[]),
        complaint: firstLine(read(join(path, 'stderr.txt')) ?? ''),
        ...toldIn(read(join(path, 'stdout.txt')) ?? ''),
      }
    })
    .sort((a, b) => a.scenario.localeCompare(b.scenario))
}

/** What a crash of Node says first is where; what went wrong is the line that begins with the name of an error. */
function firstLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0] ?? ''
}

/** What a process said at its end of the revisions that it had named. */
function toldIn(text: string): Pick<Output, 'spoken' | 'headers'> {
  const told = (what: RegExp) => what.exec(text)?.[1]?.split(', ') ?? []
  return { spoken: told(/^spoke (.+)$/m), headers: told(/^header (.+)$/m) }
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
  /** Those that count: not those that a list of requirements only reports. */
  readonly scored: readonly string[]
}

/** The names of all scenarios that a choice stands for, as the suite lists them. */
export async function list(role: 'server' | 'client', choice: readonly string[]): Promise<Listed> {
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

/** All of its program, to look for names in. */
export function suiteText(): string {
  return readFileSync(program, 'utf8')
}

/** Such as `0.2.0-alpha.12`. */
export function suiteVersion(): string {
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version
}
