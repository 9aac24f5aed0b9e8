/** Starts programs that serve until they are killed, and programs that exit after their work. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export interface Program {
  readonly child: ChildProcess
  /** The printed lines so far. */
  readonly lines: readonly string[]
  /** Resolves to the first printed line that matches; rejects if the program exits before. */
  line(pattern: RegExp): Promise<string>
  /** Resolves to the last printed line when the program exits; rejects if it fails. */
  ended(): Promise<string>
}

const onWindows = process.platform === 'win32'
const running = new Set<ChildProcess>()
/** The number of characters of stderr to keep. */
const MAX_STDERR = 20_000
/** The timeout for printing a line or exiting, in milliseconds. */
const TIMEOUT = 90_000

/** Starts a program in its own process group. */
export function start(path: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const settings = { ...process.env, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', ...env }
  const child = spawn(path, args, { env: settings, stdio: ['ignore', 'pipe', 'pipe'], detached: !onWindows })
  running.add(child)
  const lines: string[] = []
  let stderrText = ''
  let checkLines = () => {}
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    checkLines()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrText = (stderrText + text).slice(-MAX_STDERR)
  })
  const code = new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'nothing'))
  }).finally(() => running.delete(child))
  const failure = (status: number | string): Error =>
    new Error(`${path} exited with ${status}:\n${lines.slice(-20).join('\n')}\n${stderrText}`)
  return {
    child,
    lines,
    line: (pattern) =>
      withTimeout(
        path,
        () => stderrText,
        async () => {
          const found = new Promise<string>((resolve) => {
            checkLines = () => {
              const line = lines.find((each) => pattern.test(each))
              if (line !== undefined) resolve(line)
            }
            checkLines()
          })
          const lost = code.then((status) => Promise.reject(failure(status)))
          return Promise.race([found, lost])
        },
      ),
    ended: () =>
      withTimeout(
        path,
        () => stderrText,
        async () => {
          const status = await code
          if (status !== 0) throw failure(status)
          return lines.at(-1) ?? ''
        },
      ),
  }
}

async function withTimeout(path: string, stderr: () => string, run: () => Promise<string>): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${path} timed out after ${TIMEOUT / 1000} s\n${stderr()}`)), TIMEOUT)
  })
  return Promise.race([run(), timedOut]).finally(() => clearTimeout(timer))
}

/** Kills a program and its process group. */
export function end({ child }: Pick<Program, 'child'>): void {
  if (child.pid === undefined || !running.has(child)) return
  try {
    if (onWindows) child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has already exited.
  }
}

/** Kills all running programs. */
export function endAll(): void {
  for (const child of running) end({ child })
}
