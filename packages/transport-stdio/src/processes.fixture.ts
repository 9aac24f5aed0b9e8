/** Starts processes without `spawn`, and finds out whether they are alive. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delay } from '@mcpx/testing'
import { childArgs, compileCache } from './child.fixture.ts'

export interface Bare {
  readonly child: ChildProcessWithoutNullStreams
  stdout: string
  stderr: string
  readonly exit: Promise<{ code: number | null; signal: string | null }>
  /** Sends a request. */
  ask(id: number, method: string, params?: object): void
  /** Returns the messages written so far. Throws when a line is not JSON. */
  messages(): Record<string, unknown>[]
  /** Resolves when so many messages have been written. */
  wrote(count: number): Promise<void>
}

const started: ChildProcessWithoutNullStreams[] = []

/** Starts the fixture without client code. */
export function startBare(mode: string): Bare {
  return startBareCommand(process.execPath, [...childArgs, mode])
}

export function startBareCommand(command: string, args: readonly string[]): Bare {
  const child = spawn(command, args, { env: { ...process.env, ...compileCache } })
  started.push(child)
  const bare: Bare = {
    child,
    stdout: '',
    stderr: '',
    exit: once(child, 'close').then(([code, signal]) => ({ code, signal })),
    ask: (id, method, params = {}) =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`),
    messages: () =>
      bare.stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    async wrote(count) {
      await until(() => bare.stdout.split('\n').length > count)
    },
  }
  child.stdout.setEncoding('utf8').on('data', (text) => (bare.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (bare.stderr += text))
  child.stdin.on('error', () => {})
  return bare
}

export function endBare(): void {
  for (const child of started) child.kill('SIGKILL')
}

/** Resolves when the condition holds. Rejects after 5 s. */
export async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Timed out waiting for ${holds}`)
    await delay(5)
  }
}

/** Returns whether a process is alive; a zombie is not. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
