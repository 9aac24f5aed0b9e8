/** Runs programs from npm: HTTP servers and command-line tools. */

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LOOPBACK = fileURLToPath(new URL('loopback.ts', import.meta.url))
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** The timeout for starting a server or running a tool, in milliseconds. */
const TIMEOUT = 15_000

/** Returns the file of a package's command. */
export function programOf(name: string, command?: string): string {
  const folder = join(MODULES, name)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  const file = command === undefined ? Object.values(bin)[0] : bin[command]
  if (file === undefined) throw new Error(`${name} has no command ${command}`)
  return join(folder, file)
}

export interface ListeningServer {
  readonly port: number
  close(): Promise<void>
}

/** Starts an HTTP server on 127.0.0.1. */
export async function startListening(file: string, args: readonly string[]): Promise<ListeningServer> {
  const child = spawn(process.execPath, ['--import', LOOPBACK, file, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  const port = await new Promise<number>((resolve, reject) => {
    let stderr = ''
    const timer = setTimeout(() => reject(new Error(`${file} did not listen: ${stderr}`)), TIMEOUT)
    child.once('exit', () => reject(new Error(`${file} exited: ${stderr}`)))
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString('utf8')
      const found = /listening on (\d+)/.exec(stderr)?.[1]
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

export interface RunResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Runs a program until it exits. */
export function runToEnd(file: string, args: readonly string[], { cwd, env }: RunOptions): Promise<RunResult> {
  const child = spawn(process.execPath, [file, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString('utf8')))
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString('utf8')))
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT)
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code, ...output })
    })
  })
}
