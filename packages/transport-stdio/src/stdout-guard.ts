/** Takes standard output for the protocol: what other code of the process writes to it goes to standard error. */

import { Console } from 'node:console'
import process from 'node:process'
import type { ByteSink } from './streams.ts'

export interface StdoutGuard {
  /** Standard output, for the protocol alone. */
  readonly sink: ByteSink
  /** Gives standard output back. */
  release(): void
}

let isTaken = false

/**
 * Replaces `process.stdout.write` and `end`, and, where the console does not write by them, the methods of the console.
 * Says once, on standard error, who wrote there first. Throws when standard output is taken already.
 */
export function guardStdout(): StdoutGuard {
  if (isTaken) throw new TypeError('Standard output is taken already: one server at a time can be served on it')
  isTaken = true
  const { stdout, stderr } = process
  const { write, end } = stdout
  let hasSpoken = false

  function speak(): void {
    if (hasSpoken) return
    hasSpoken = true
    stderr.write(
      `[mcpx] Standard output belongs to the protocol: what else is written there goes here. First ${writer()}\n`,
    )
  }

  function redirect(...args: Parameters<typeof write>): true {
    speak()
    stderr.write(...args)
    // A writer that was told to wait would wait for the room of the other stream.
    return true
  }

  stdout.write = redirect as typeof write
  stdout.end = ((...args: Parameters<typeof write>) => {
    if (args[0] !== undefined && typeof args[0] !== 'function') redirect(...args)
    return stdout
  }) as typeof end
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

function redirectConsole(speak: () => void): () => void {
  const methods = console as unknown as Record<string, unknown>
  const loud = new Console(process.stderr, process.stderr) as unknown as Record<string, unknown>
  const before = Object.entries(methods).filter(([name, method]) => {
    return typeof method === 'function' && typeof loud[name] === 'function' && name !== 'Console'
  })
  for (const [name] of before) {
    const method = loud[name] as (...args: unknown[]) => unknown
    methods[name] = (...args: unknown[]) => {
      if (!toStderr.has(name)) speak()
      return method.apply(loud, args)
    }
  }
  return () => void Object.assign(methods, Object.fromEntries(before))
}

const toStderr = new Set(['error', 'warn', 'trace', 'assert', 'time', 'clear', 'groupEnd', 'countReset'])

/** The first line of the stack that belongs to neither this file nor the runtime. */
function writer(): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 30
  const frames = new Error('written').stack?.split('\n').slice(1) ?? []
  Error.stackTraceLimit = limit
  // Source maps may name the source instead of the file that runs.
  const own = /stdout-guard\.[jt]s\b/
  const frame = frames.find((line) => !own.test(line) && !/\(?(?:node:|ext:|native|<anonymous>)/.test(line))
  return frame === undefined ? 'by code that cannot be told' : frame.trim()
}
