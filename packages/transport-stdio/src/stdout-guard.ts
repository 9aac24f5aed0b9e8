/** Takes standard output for the protocol: what other code of the process writes to it goes to standard error. */

import { Console } from 'node:console'
import type { ByteSink } from './streams.ts'

export interface StdoutGuard {
  /** Standard output, for the protocol alone. */
  readonly sink: ByteSink
  /** Gives standard output back. */
  release(): void
}

/** What other code calls, and what is no more to be seen of its stack. */
type Callable = (...args: never[]) => unknown

let isTaken = false

/**
 * Replaces `process.stdout.write` and `end`, and, where the console does not write by them, the methods of the console.
 * Says once, on standard error, who wrote there first. Throws when standard output is taken already.
 */
export function guardStdout(): StdoutGuard {
  if (isTaken) throw new TypeError('Standard output is taken already: one server at a time can be served on it')
  isTaken = true
  const { stdout } = process
  const { write, end } = stdout
  let hasSpoken = false

  function speak(entered: Callable): void {
    if (hasSpoken) return
    hasSpoken = true
    process.stderr.write(
      `[mcpx] Standard output belongs to the protocol: what else is written there goes here. First ${writer(entered)}\n`,
    )
  }

  function redirect(entered: Callable, args: Parameters<typeof write>): void {
    speak(entered)
    process.stderr.write(...args)
  }

  function redirectWrite(...args: Parameters<typeof write>): true {
    redirect(redirectWrite, args)
    // A writer that was told to wait would wait for the room of the other stream.
    return true
  }

  function redirectEnd(...args: Parameters<typeof write>): typeof stdout {
    if (args[0] !== undefined && typeof args[0] !== 'function') redirect(redirectEnd, args)
    return stdout
  }

  stdout.write = redirectWrite as typeof write
  stdout.end = redirectEnd as typeof end
  const restoreConsole = hasNativeConsole() ? redirectConsole(speak) : () => {}

  return {
    sink: plainSink(stdout, write.bind(stdout) as ByteSink['write']),
    release() {
      stdout.write = write
      stdout.end = end
      restoreConsole()
      isTaken = false
    },
  }
}

/** Standard output is never ended: other parts of the process may hold it, and the runtime closes it at the exit. */
export function plainSink(stdout: ByteSink, write: ByteSink['write']): ByteSink {
  return {
    write,
    end: (done) => void done(),
    on: stdout.on.bind(stdout) as ByteSink['on'],
    removeListener: stdout.removeListener.bind(stdout),
  }
}

/** Bun and Deno write what is logged past `process.stdout`. */
function hasNativeConsole(): boolean {
  return 'Bun' in globalThis || 'Deno' in globalThis
}

function redirectConsole(speak: (entered: Callable) => void): () => void {
  const methods = console as unknown as Record<string, unknown>
  const loud = new Console(process.stderr, process.stderr) as unknown as Record<string, unknown>
  const before = Object.entries(methods).filter(([name, method]) => {
    return typeof method === 'function' && typeof loud[name] === 'function' && name !== 'Console'
  })
  for (const [name] of before) {
    const method = loud[name] as (...args: unknown[]) => unknown
    const redirected = (...args: unknown[]): unknown => {
      if (!toStderr.has(name)) speak(redirected)
      return method.apply(loud, args)
    }
    methods[name] = redirected
  }
  return () => void Object.assign(methods, Object.fromEntries(before))
}

const toStderr = new Set(['error', 'warn', 'trace', 'assert', 'time', 'clear', 'groupEnd', 'countReset'])

/** The first line of the stack that does not belong to the runtime, below the function of ours that was called. */
function writer(entered: Callable): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 30
  const written: { stack?: string } = {}
  Error.captureStackTrace(written, entered)
  Error.stackTraceLimit = limit
  const frames = written.stack?.split('\n').slice(1) ?? []
  const frame = frames.find((line) => !/\(?(?:node:|ext:|native|<anonymous>)/.test(line))
  return frame === undefined ? 'by code that cannot be told' : frame.trim()
}
