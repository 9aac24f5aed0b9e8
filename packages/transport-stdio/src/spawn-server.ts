/** Starts the process of a server and connects to it; the only part that loads what starts processes. */

import { type StdioPipe, spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  BATCH_REVISION,
  type Connection,
  ConnectionError,
  type ConnectOptions,
  createDuplex,
  quoted,
} from '@mcpx/protocol'
import { childEnv } from './child-env.ts'
import { createProcessChannel, type ServerProcess } from './process-channel.ts'
import type { SpawnOptions } from './spawn-options.ts'
import { followStderr } from './stderr-tail.ts'
import { windowsCommand } from './windows-command.ts'

export interface ServerStart extends ConnectOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly options: SpawnOptions
  readonly onExit: (lived: number) => void
}

const TIMES = { end: 2_000, terminate: 2_000, kill: 1_000 } as const

/** Resolves when the process runs; rejects with `unreachable` when it cannot be started. */
export async function startServer(start: ServerStart): Promise<Connection> {
  const { command, options, responder, report, onExit } = start
  const child = await startProcess(start)
  const tail = followStderr(child.stderr, options.stderr ?? 'inherit', report)
  const { end = TIMES.end, terminate = TIMES.terminate, kill = TIMES.kill } = options.shutdown ?? {}
  const channel = createProcessChannel({
    child,
    command: quoted(command),
    tail,
    times: { end, terminate, kill },
    maxLineLength: options.maxLineLength,
    maxUnsent: options.maxUnsent,
    onStray: (line) => report(strayError(line)),
    onExit,
    report,
  })
  let takesBatches = false
  const duplex = createDuplex(channel, { responder, report, limits: options.limits, takesBatches: () => takesBatches })
  return Object.assign(duplex, {
    closed: Promise.race([duplex.closed, channel.gone]),
    negotiated(revision: string) {
      takesBatches = revision === BATCH_REVISION
    },
  })
}

async function startProcess({ command, args, options }: ServerStart): Promise<ServerProcess> {
  const isWindows = process.platform === 'win32'
  const env = childEnv(options.env ?? {}, process.env, process.platform)
  const cwd = options.cwd instanceof URL ? fileURLToPath(options.cwd) : (options.cwd ?? process.cwd())
  const line = isWindows
    ? windowsCommand(command, args, { env, cwd, isFile })
    : { file: command, args, isVerbatim: false }
  const pipe: StdioPipe = 'pipe'
  let child: ServerProcess
  try {
    child = spawn(line.file, line.args, {
      cwd,
      env,
      stdio: [pipe, pipe, pipe],
      shell: false,
      // A group of its own on POSIX, so that all that it starts can be ended with it; on Windows it would open a window.
      detached: !isWindows,
      windowsHide: true,
      windowsVerbatimArguments: line.isVerbatim,
    })
    await once(child, 'spawn')
  } catch (cause) {
    throw startError(command, cwd, cause as NodeJS.ErrnoException)
  }
  return child
}

function startError(command: string, cwd: string, cause: NodeJS.ErrnoException): ConnectionError {
  const hint =
    cause.code === 'ENOENT'
      ? `Look whether it is installed and in PATH, or give its whole path; and whether the folder ${cwd} exists.`
      : 'Look whether it may be executed.'
  const why = cause.code ?? cause.message
  return new ConnectionError('unreachable', `The server ${quoted(command)} could not be started: ${why}`, {
    hint,
    cause,
  })
}

/** The peer is not told: servers have been seen to end for an answer to what they did not mean to say. */
function strayError(line: string): ConnectionError {
  const hint = 'A server has to log to its standard error.'
  return new ConnectionError('invalid-message', `The server wrote a line that is no message: ${quoted(line)}`, { hint })
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
