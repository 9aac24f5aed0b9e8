/** Starts the server processes, reads their resources, and kills them. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Resources } from './resources.ts'
import type { Problems, ServerOptions } from './server.ts'

/** The program of a server. */
export const program = fileURLToPath(new URL('server.ts', import.meta.url))
/** The flags of Node for it. */
export const flags: readonly string[] = ['--disable-warning=ExperimentalWarning', '--unhandled-rejections=strict']

/** The report of a server process. */
export interface ProcessReport {
  readonly resources: Resources
  readonly problems: Problems
  /** The number of handlers that run. */
  readonly running: number
  /** The number of messages that it has handled. */
  readonly messages: number
  /** What clients hold. */
  readonly held: Held
}

/** What the clients of a server hold: it must be freed after the last one. */
export interface Held {
  /** The sessions in the store, of all processes that share it. */
  readonly sessions: number
  /** The open SSE streams of the process. */
  readonly streams: number
  /** The requests that the process handles. */
  readonly requests: number
}

export interface ServerProcess {
  /** The URL of the endpoint. */
  readonly url: string
  /** Undefined while it runs. */
  readonly exit: string | undefined
  look(): Promise<ProcessReport>
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>
}

export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const child = fork(program, [JSON.stringify(options)], {
    execArgv: [...flags],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let stderr = ''
  let exit: string | undefined
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-2_000)
  })
  const exited = once(child, 'exit').then(([code, signal]) => {
    exit = `${code ?? signal}: ${stderr.trim()}`
  })
  const first = await Promise.race([once(child, 'message'), exited])
  if (first === undefined) throw new Error(`A server process ended before it listened: ${exit}`)
  const [{ url }] = first as [{ url: string }]
  return {
    url,
    get exit() {
      return exit
    },
    look: () => look(child, exited),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

async function look(child: ChildProcess, exited: Promise<void>): Promise<ProcessReport> {
  if (!child.connected) throw new Error('A server process has ended')
  child.send('look')
  const answer = await Promise.race([once(child, 'message'), exited])
  if (answer === undefined) throw new Error('A server process has ended')
  return (answer as [ProcessReport])[0]
}
