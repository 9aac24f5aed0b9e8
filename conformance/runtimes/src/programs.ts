/** Programs that serve until they are ended, and programs that say something and end. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export interface Program {
  readonly child: ChildProcess
  /** Resolves to the first line it prints that is wanted; rejects when it ends without one. */
  line(wanted: RegExp): Promise<string>
  /** Resolves when it ended by itself, to its last line; rejects when it failed. */
  ended(): Promise<string>
}

const onWindows = process.platform === 'win32'
const running = new Set<ChildProcess>()
/** How much of what a program says is kept, in characters. */
const KEPT = 20_000
/** How long a program may take to begin serving, or to end, in ms. */
const LIMIT = 90_000

/** Starts a program in a group of its own. */
export function start(path: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const settings = { ...process.env, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', ...env }
  const child = spawn(path, args, { env: settings, stdio: ['ignore', 'pipe', 'pipe'], detached: !onWindows })
  running.add(child)
  const lines: string[] = []
  let said = ''
  let look = () => {}
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    look()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-KEPT)
  })
  const code = new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'nothing'))
  }).finally(() => running.delete(child))
  const failure = (why: number | string): Error =>
    new Error(`${path} ended with ${why}:\n${lines.slice(-20).join('\n')}\n${said}`)
  return {
    child,
    line: (wanted) =>
      inTime(
        path,
        () => said,
        async () => {
          const found = new Promise<string>((resolve) => {
            look = () => {
              const line = lines.find((each) => wanted.test(each))
              if (line !== undefined) resolve(line)
            }
            look()
          })
          const lost = code.then((why) => Promise.reject(failure(why)))
          return Promise.race([found, lost])
        },
      ),
    ended: () =>
      inTime(
        path,
        () => said,
        async () => {
          const why = await code
          if (why !== 0) throw failure(why)
          return lines.at(-1) ?? ''
        },
      ),
  }
}

async function inTime(path: string, said: () => string, run: () => Promise<string>): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${path} was waited for ${LIMIT / 1000} s\n${said()}`)), LIMIT)
  })
  return Promise.race([run(), late]).finally(() => clearTimeout(timer))
}

/** Ends a program and all that it started. */
export function end({ child }: Pick<Program, 'child'>): void {
  if (child.pid === undefined || !running.has(child)) return
  try {
    if (onWindows) child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

/** Ends everything that is still running. */
export function endAll(): void {
  for (const child of running) end({ child })
}
