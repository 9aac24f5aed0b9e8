/** A server in a process of its own, on a core of its own, that ends with the one who started it. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { pinned } from '../machine.ts'

const subjects = new URL('../../subjects/', import.meta.url)
const probe = new URL('../../subjects/parts/probe.mjs', import.meta.url).href

export interface StartOptions {
  /** Below subjects/. */
  readonly file: string
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Flags for Node. */
  readonly flags?: readonly string[] | undefined
  /** Whether it can be asked for its heap. */
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

/** Starts a subject. What it says on standard error is kept for the error that may follow. */
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
  #said = ''

  constructor(child: ChildProcess) {
    this.child = child
    this.pid = child.pid ?? 0
    started.add(child)
    child.once('exit', () => started.delete(child))
    child.stderr?.on('data', (data) => {
      this.#said = (this.#said + String(data)).slice(-2000)
    })
  }

  /** Resolves when it says `ready`. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${why}\n${this.#said}`))
      const timer = setTimeout(fail, READY, `not ready within ${READY} ms`)
      this.child.once('exit', (code) => fail(`exited with ${code} before it was ready`))
      this.child.stdout?.on('data', (data) => {
        if (!String(data).includes('ready')) return
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** What lives on the heap, after everything else was collected, or all that is young; or what is there, as it is. */
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

/** Starts an HTTP server on a port that is free, and waits until it listens. */
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
