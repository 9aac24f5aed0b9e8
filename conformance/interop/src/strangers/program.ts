/** Programs that are run as they come from npm: servers that listen, and tools that end by themselves. */

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LOOPBACK = fileURLToPath(new URL('loopback.ts', import.meta.url))
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** How long a program may take to start, or to end, in ms. */
const PATIENCE = 15_000

/** The file that a package's command runs. */
export function programOf(name: string, command?: string): string {
  const folder = join(MODULES, name)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  const file = command === undefined ? Object.values(bin)[0] : bin[command]
  if (file === undefined) throw new Error(`${name} has no command ${command}`)
  return join(folder, file)
}

export interface Listening {
  readonly port: number
  close(): Promise<void>
}

/** Starts a server that listens, on the loopback. */
export async function startListening(file: string, args: readonly string[]): Promise<Listening> {
  const child = spawn(process.execPath, ['--import', LOOPBACK, file, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  const port = await new Promise<number>((resolve, reject) => {
    let said = ''
    const timer = setTimeout(() => reject(new Error(`${file} did not listen: ${said}`)), PATIENCE)
    child.once('exit', () => reject(new Error(`${file} exited: ${said}`)))
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
      const found = /listening on (\d+)/.exec(said)?.[1]
      if (found === undefined) return
      clearTimeout(timer)
      resolve(Number(found))
    })
  })
  return { port, close: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 1_000)
  await ended
  clearTimeout(timer)
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Runs a program to its end. */
export function runToEnd(file: string, args: readonly string[], { cwd, env }: RunOptions): Promise<Ended> {
  const child = spawn(process.execPath, [file, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString('utf8')))
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString('utf8')))
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code, ...said })
    })
  })
}
