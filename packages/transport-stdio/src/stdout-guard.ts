/** Reserves standard output for the protocol. Output of other code is redirected to standard error. */

import { Console } from 'node:console'
import type { ByteSink } from './lines.ts'

/** A replacement of a function that writes to standard output. Code outside of this package calls it. */
type Replacement = (...args: never[]) => unknown

interface StdoutGuard {
  /** Writes to standard output, without redirection. */
  readonly write: ByteSink['write']
  /** Restores standard output. */
  release(): void
}

let current: StdoutGuard | undefined
let isTaken = false

/**
 * Returns standard output as a sink for the protocol. With `guard`, redirects all other output to standard error. Throws a
 * `TypeError` if another server uses standard output with a guard. Without `guard`, releases an earlier guard.
 */
export function takeStdout(guard: boolean): ByteSink {
  if (isTaken && guard) throw new TypeError('Standard output is already in use: only one server at a time can use it')
  if (guard) isTaken = true
  else releaseStdout()
  reportDestroy()
  const stdout = process.stdout as ByteSink
  const write = guard ? guardStdout().write : stdout.write.bind(stdout)
  return {
    write,
    // Do not end standard output: other parts of the process may use it, and the runtime closes it at the exit.
    end: (done) => void done(),
    on(event: string, listener: (error: Error) => void) {
      stdout.on(event as 'error', listener)
      // This package never closes standard output. If other code closes it, the server cannot send responses and must end.
      if (event === 'error') stdout.on('close', () => listener(new Error('standard output was closed')))
    },
    removeListener: stdout.removeListener.bind(stdout),
  }
}

let reportsDestroy = false

/**
 * Writes a report to standard error if code destroys standard output. Writes no report if the runtime destroys standard
 * output, which happens when the client disconnects.
 */
function reportDestroy(): void {
  if (reportsDestroy) return
  reportsDestroy = true
  const { destroy } = process.stdout
  process.stdout.destroy = function reported(error) {
    const [caller] = linesBelow(reported)
    if (caller !== undefined && !isOfRuntime(caller)) {
      process.stderr.write(
        `[mcpx] Standard output was destroyed. The server cannot send responses any more, and stops. ${caller}\n`,
      )
      process.exitCode = 1
    }
    return destroy.call(process.stdout, error)
  }
}

/** Restores standard output, so that another server can use it. */
export function releaseStdout(): void {
  current?.release()
  current = undefined
  isTaken = false
}

/**
 * Replaces `process.stdout.write` and `end`, and also the methods of the console on runtimes whose console does not use
 * them. When other code first writes to standard output, a message on standard error names this code. If a guard is
 * already active, returns it.
 */
export function guardStdout(): StdoutGuard {
  current ??= createGuard()
  return current
}

function createGuard(): StdoutGuard {
  const { stdout } = process
  const { write, end } = stdout
  let hasWarned = false

  function warn(entered: Replacement): void {
    if (hasWarned) return
    hasWarned = true
    process.stderr.write(
      `[mcpx] Standard output is reserved for the protocol. Other output is redirected to standard error. It was first written ${findWriter(entered)}\n`,
    )
  }

  function redirect(entered: Replacement, args: Parameters<typeof write>): void {
    warn(entered)
    process.stderr.write(...args)
  }

  function redirectWrite(...args: Parameters<typeof write>): true {
    redirect(redirectWrite, args)
    // Always returns true: after false, the writer would wait for `drain` of standard output.
    return true
  }

  function redirectEnd(...args: Parameters<typeof write>): typeof stdout {
    if (args[0] !== undefined && typeof args[0] !== 'function') redirect(redirectEnd, args)
    return stdout
  }

  stdout.write = redirectWrite as typeof write
  stdout.end = redirectEnd as typeof end
  const restoreConsole = hasNativeConsole() ? redirectConsole(warn) : () => {}

  return {
    write: write.bind(stdout) as ByteSink['write'],
    release() {
      stdout.write = write
      stdout.end = end
      restoreConsole()
    },
  }
}

/** Returns whether the console writes without `process.stdout`, as in Bun and Deno. */
function hasNativeConsole(): boolean {
  return 'Bun' in globalThis || 'Deno' in globalThis
}

function redirectConsole(warn: (entered: Replacement) => void): () => void {
  const methods = console as unknown as Record<string, unknown>
  const stderrConsole = new Console(process.stderr, process.stderr) as unknown as Record<string, unknown>
  const before = Object.entries(methods).filter(([name, method]) => {
    return typeof method === 'function' && typeof stderrConsole[name] === 'function' && name !== 'Console'
  })
  for (const [name] of before) {
    const method = stderrConsole[name] as (...args: unknown[]) => unknown
    const redirected = (...args: unknown[]): unknown => {
      if (!stderrMethods.has(name)) warn(redirected)
      return method.apply(stderrConsole, args)
    }
    methods[name] = redirected
  }
  return () => void Object.assign(methods, Object.fromEntries(before))
}

/** The methods of the console that write to standard error, or write nothing. */
const stderrMethods = new Set(['error', 'warn', 'trace', 'assert', 'time', 'clear', 'groupEnd', 'countReset'])

/** Returns the first line of the stack below `entered` that does not belong to the runtime. */
function findWriter(entered: Replacement): string {
  return linesBelow(entered).find((line) => !isOfRuntime(line)) ?? 'by unknown code'
}

function isOfRuntime(line: string): boolean {
  return /\(?(?:node:|ext:|native|<anonymous>)/.test(line)
}

/** Returns the lines of the stack below a function that was called. */
function linesBelow(entered: Replacement): string[] {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 30
  const written: { stack?: string } = {}
  Error.captureStackTrace(written, entered)
  Error.stackTraceLimit = limit
  const lines = written.stack?.split('\n').slice(1) ?? []
  return lines.map((line) => line.trim())
}
