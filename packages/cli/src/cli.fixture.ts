/** Runs `mcpx` as a process: with pipes, or in a terminal that a test can type into. */

import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import pty from '@lydell/node-pty'
import { onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
/** The arguments of Node that start `mcpx` from its sources. */
export const MCPX = ['--import', new URL('./sources.fixture.ts', import.meta.url).href, main]

export interface RunOptions {
  /** Added to an environment with an empty HOME. Undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** Written to standard input, which then ends. Default: none; standard input is empty. */
  readonly input?: string
  /** Ends the program with SIGKILL after this many ms. Default: 20,000. */
  readonly timeout?: number
}

export interface RunResult {
  /** The exit code; null after a signal. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Standard output, parsed. */
  json<T = Record<string, unknown>>(): T
}

/** Runs `mcpx` without a terminal. */
export async function mcpx(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const child = spawn(process.execPath, [...MCPX, ...args], {
    cwd: options.cwd ?? (await emptyHome()),
    env: await environment(options),
    stdio: 'pipe',
    timeout: options.timeout ?? 20_000,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout, stderr, json: () => JSON.parse(stdout) }
}

/** A program in a terminal of 100 columns. */
export interface TerminalRun {
  /** Everything that was written so far, with escape sequences. */
  raw(): string
  /** Everything that was written so far, without escape sequences. */
  text(): string
  /** Types text or keys, such as `\r` for Enter. */
  type(keys: string): void
  /** Resolves when the text has been written since the last call. Rejects after 20 s, or when the program has exited. */
  waitFor(text: string): Promise<void>
  /** Resolves to the exit code. */
  readonly exited: Promise<number>
}

/** Runs `mcpx` in a terminal. */
export async function mcpxInTerminal(
  args: readonly string[],
  options: Omit<RunOptions, 'input'> = {},
): Promise<TerminalRun> {
  const program = pty.spawn(process.execPath, [...MCPX, ...args], {
    cols: 100,
    rows: 40,
    cwd: options.cwd ?? (await emptyHome()),
    env: await environment({ ...options, env: { TERM: 'xterm-256color', ...options.env } }),
  })
  let output = ''
  let seen = 0
  let isOver = false
  const listeners = new Set<() => void>()
  const notify = () => {
    for (const listener of listeners) listener()
  }
  program.onData((text) => {
    output += text
    notify()
  })
  const exited = new Promise<number>((resolve) => {
    program.onExit(({ exitCode }) => {
      isOver = true
      resolve(exitCode)
      notify()
    })
  })
  const timer = setTimeout(() => program.kill('SIGKILL'), options.timeout ?? 20_000)
  void exited.then(() => clearTimeout(timer))
  onTestFinished(() => {
    if (!isOver) program.kill('SIGKILL')
  })
  const text = () => stripVTControlCharacters(output)
  return {
    raw: () => output,
    text,
    type: (keys) => program.write(keys),
    exited,
    waitFor: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const index = text().indexOf(wanted, seen)
          if (index < 0 && !isOver) return
          listeners.delete(look)
          if (index < 0) return reject(new Error(`${JSON.stringify(wanted)} was not written:\n${text()}`))
          seen = index + wanted.length
          resolve()
        }
        listeners.add(look)
        look()
      }),
  }
}

/** Creates a folder with files, which is deleted at the end of the test. Returns its path. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mcpx-cli-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  return folder
}

function emptyHome(): Promise<string> {
  return folderWith({})
}

async function environment({ env = {} }: RunOptions): Promise<Record<string, string>> {
  const { PATH, TMPDIR, SystemRoot } = process.env
  const home = env.HOME ?? (await emptyHome())
  const all = { PATH, TMPDIR, SystemRoot, HOME: home, ...env }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
