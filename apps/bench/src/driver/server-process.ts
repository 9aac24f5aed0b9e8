/** A server in a child process on a separate core, which exits with its parent. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { pinned } from '../machine.ts'

const subjects = new URL('../../subjects/', import.meta.url)
const probe = new URL('../../subjects/parts/probe.mjs', import.meta.url).href

export interface StartOptions {
  /** The path of the subject, relative to `subjects/`. */
  readonly file: string
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Flags for Node. */
  readonly flags?: readonly string[] | undefined
  /** Whether the process reports its heap size. */
  readonly isProbed?: boolean | undefined
}

export interface Heap {
  readonly used: number
  readonly external: number
}

const started = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL')
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))

/** Starts a subject. Its stderr is kept for errors. */
export function startProcess({ file, env, flags = [], isProbed }: StartOptions): Started {
  const path = fileURLToPath(new URL(file, subjects))
  const [command, args] = pinned([...flags, ...(isProbed ? ['--import', probe] : []), path])
  const child = spawn(command, args, {
    env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production', ...env },
    stdio: ['pipe', 'pipe', 'pipe', ...(isProbed ? (['ipc'] as const) : [])],
  })
  return new Started(child)
}

const READY = 15_000

export class Started {
  readonly child: ChildProcess
  readonly pid: number
  #stderr = ''

  constructor(child: ChildProcess) {
    this.child = child
    this.pid = child.pid ?? 0
    started.add(child)
    child.once('exit', () => started.delete(child))
    child.stderr?.on('data', (data) => {
      this.#stderr = (this.#stderr + String(data)).slice(-2000)
    })
  }

  /** Resolves when the process prints `ready`. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => reject(new Error(`${reason}\n${this.#stderr}`))
      const timer = setTimeout(fail, READY, `not ready within ${READY} ms`)
      this.child.once('exit', (code) => fail(`exited with ${code} before it was ready`))
      this.child.stdout?.on('data', (data) => {
        if (!String(data).includes('ready')) return
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** Returns the heap size after a full collection, after a collection of the young generation, or without one. */
  heap(question: 'collect' | 'collect young' | 'look' = 'collect'): Promise<Heap> {
    return new Promise((resolve) => {
      this.child.once('message', (heap) => resolve(heap as Heap))
      this.child.send(question)
    })
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      if (this.child.exitCode !== null || this.child.signalCode !== null) return resolve()
      this.child.once('exit', () => resolve())
      this.child.kill('SIGKILL')
    })
  }
}

/** Starts an HTTP server on a free port, and waits until it listens. */
export async function startServer(options: StartOptions): Promise<Started & { readonly port: number }> {
  const port = await freePort()
  const server = startProcess({ ...options, env: { ...options.env, PORT: String(port) } })
  try {
    await server.ready()
  } catch (error) {
    await server.stop()
    throw error
  }
  return Object.assign(server, { port })
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = createServer().once('error', reject)
    asked.listen(0, '127.0.0.1', () => {
      const { port } = asked.address() as AddressInfo
      asked.close(() => resolve(port))
    })
  })
}
