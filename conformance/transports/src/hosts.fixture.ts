/** Starts server processes, reads their resources, and ends them. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { CallerOptions, CallsMade } from './caller.fixture.ts'
import type { HostOptions, HostResources } from './host.fixture.ts'

export interface Host {
  readonly child: ChildProcess
  readonly url: string
  readonly port: number
  readonly pid: number
  /** All output on stderr. */
  stderr: string
  look(): Promise<HostResources>
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>
}

/** The flags of Node that run the sources of this repository and the builds of dependencies. */
export const fromSource: readonly string[] = [
  '--conditions=source',
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('./own-sources.fixture.ts', import.meta.url).href,
]

/** The compile cache, with which a process starts three times as fast. */
export const compileCache: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url)),
}

const started: ChildProcess[] = []

export async function startHost(options: HostOptions = {}): Promise<Host> {
  const heap = options.heap === undefined ? [] : [`--max-old-space-size=${options.heap}`]
  const child = fork(fileURLToPath(new URL('./host.fixture.ts', import.meta.url)), [JSON.stringify(options)], {
    execArgv: [...fromSource, '--unhandled-rejections=strict', ...heap],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, ...compileCache },
  })
  started.push(child)
  const exited = once(child, 'exit')
  const host = { child, stderr: '', pid: child.pid as number, url: '', port: 0 }
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    host.stderr += text
  })
  const first = await Promise.race([once(child, 'message'), exited.then(() => undefined)])
  if (first === undefined) throw new Error(`The server did not start: ${host.stderr}`)
  return Object.assign(host, first[0] as { url: string; port: number }, {
    async look() {
      child.send('look')
      const [{ held }] = (await once(child, 'message')) as [{ held: HostResources }]
      return held
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  })
}

export interface Caller {
  begin(): void
  /** Resolves when the last calls have been answered. */
  end(): Promise<CallsMade>
  close(): void
}

/** Starts a process that calls a server, so that its calls do not wait for this process. */
export async function startCaller(host: Host, calls: CallerOptions['calls']): Promise<Caller> {
  const options: CallerOptions = { port: host.port, server: host.pid, calls }
  const child = fork(fileURLToPath(new URL('./caller.fixture.ts', import.meta.url)), [JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  started.push(child)
  await once(child, 'message')
  let made: Promise<CallsMade>
  return {
    begin() {
      made = once(child, 'message').then(([calls]) => calls as CallsMade)
      child.send('begin')
    },
    end() {
      child.send('end')
      return made
    },
    close: () => void child.kill('SIGKILL'),
  }
}

/** Waits until a server process has at most the given numbers of resources; throws after a timeout. */
export async function expectResources(host: Host, most: Readonly<Record<string, number>>): Promise<void> {
  const deadline = performance.now() + 7_000
  for (;;) {
    const { resources } = await host.look()
    const over = Object.entries(most).filter(([kind, count]) => (resources[kind] ?? 0) > count)
    if (over.length === 0) return
    if (performance.now() > deadline)
      throw new Error(`resources: expected at most ${JSON.stringify(most)}, got ${JSON.stringify(resources)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Kills all started processes; to be called in `afterAll`. */
export function killHosts(): void {
  for (const child of started.splice(0)) child.kill('SIGKILL')
}
