/** `mcpx dev`: serves the server that a file exports, and restarts it when the file, or a file that it imports, is saved. */

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import process from 'node:process'
import { openBrowser } from '@mcpx/auth/node'
import { connect } from '@mcpx/client'
import type { Responder } from '@mcpx/protocol'
import type { Command } from 'commander'
import { FileWatch } from '../dev/file-watch.ts'
import { createFront } from '../dev/front.ts'
import { ReplaceableServer } from '../dev/replaceable-server.ts'
import type { Inspector } from '../inspect/serve.ts'
import { usageError } from '../output/errors.ts'
import { addServingOptions, collect, readServing, type ServingOptions } from '../server/options.ts'
import { VERSION } from '../version.ts'
import type { CommandContext } from './index.ts'

interface DevOptions extends ServingOptions {
  readonly watch: readonly string[]
  readonly drain: number
  readonly inspect?: boolean
  readonly open: boolean
}

const CLIENT_INFO = { name: 'mcpx', version: VERSION }
/** How long the calls of a replaced server may continue, in ms. */
const DRAIN = 30_000
/** How long a server may take to start, in ms. */
const CONNECT_TIMEOUT = 30_000

const NOTES = `
When the file is saved, or a file that it imports, the server is replaced, and its clients stay connected.

Examples:
  mcpx dev server.ts --http --inspect
  mcpx install cursor -- npx mcpx dev "$PWD/server.ts"`

export function define(command: Command, context: CommandContext): void {
  addServingOptions(command)
    .option('--watch <path>', 'also watch this file or folder; may be repeated', collect, [])
    .option('--drain <ms>', 'how long calls may continue in a replaced server, in ms', readDrain, DRAIN)
    .option('--inspect', 'also open the page of mcpx inspect')
    .option('--no-open', 'with --inspect: do not open the browser')
    .addHelpText('after', NOTES)
    .action(async (file: string, options: DevOptions) => dev(context, file, options))
}

function readDrain(value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value)
  throw usageError(`--drain: expected a number of ms, got ${JSON.stringify(value)}`)
}

async function dev({ terminal, output }: CommandContext, file: string, options: DevOptions): Promise<void> {
  const { path, isHttp } = readServing(file, options, terminal)
  const name = basename(path)
  function onWarning(warning: unknown): void {
    const message = warning instanceof Error ? warning.message : String(warning)
    output.event({ event: 'warning', message }, `warning: ${message}`)
  }
  const [command, ...args] = terminal.program
  const server = new ReplaceableServer({
    command: [command, ...args, 'run', path, '--stdio'],
    env: terminal.env,
    connectTimeout: CONNECT_TIMEOUT,
    drain: options.drain,
    onStderr: (text) => void terminal.stderr.write(text),
    onFile: (loaded) => watch.addFile(loaded),
    onWarning,
    onStart(started, time) {
      front.update(started)
      output.event({ event: 'started', time: Math.round(time) }, `${name} started in ${Math.round(time)} ms`)
    },
    onFailure(error, isKept) {
      const state = isKept ? 'The previous version of the server continues.' : 'The next save starts it again.'
      const event = { event: 'failed', message: error.message, kept: isKept } as const
      output.event(event, `${name} did not start. ${state}`)
      if (!(error.cause instanceof Error && error.cause.name === 'ConnectionError')) onWarning(error)
    },
    onExit({ message, cause }) {
      const reason = cause instanceof Error ? cause.message : message
      output.event({ event: 'exited', message: reason }, `${name} ${reason}; it is started again`)
    },
  })
  const front = createFront(server, name, onWarning)
  const watch = new FileWatch(() => server.replace(), onWarning)
  watch.addFile(path)
  for (const each of options.watch) watch.addPath(existingPath(resolve(terminal.cwd, each)))
  let inspector: Inspector | undefined
  try {
    server.replace()
    if (options.inspect === true) inspector = await inspectFront(front.responder)
    await (isHttp ? serveOverHttp(front.responder, options) : serveOverStdio(front.responder))
  } finally {
    watch.close()
    await inspector?.close()
    await server.close()
  }

  /** Serves the page of `mcpx inspect`. The page connects to the server as another client. */
  async function inspectFront(responder: Responder): Promise<Inspector> {
    const { startInspector } = await import('../inspect/serve.ts')
    // Disable deprecation warnings. Servers still use deprecated features, so the page supports them.
    process.noDeprecation = true
    const opened = await startInspector({
      label: name,
      source: { kind: 'file', word: file },
      connector: responder,
      connect: (connector, clientOptions) =>
        connect(connector, { clientInfo: CLIENT_INFO, onWarning, ...clientOptions }),
    })
    output.event({ event: 'inspecting', url: opened.url }, `Inspecting at ${opened.url}`)
    if (options.open && !output.json && !(await openBrowser(new URL(opened.entryUrl))))
      output.note('No browser could be opened. Open the address yourself.')
    return opened
  }

  async function serveOverHttp(responder: Responder, address: ServingOptions): Promise<void> {
    const { serveLoaded } = await import('../server/serve.ts')
    const { url, close } = await serveLoaded({ kind: 'server', server: responder }, address)
    output.event({ event: 'serving', url }, `Serving at ${url} until Ctrl-C`)
    if (!terminal.signal.aborted) await once(terminal.signal, 'abort')
    await close()
  }

  async function serveOverStdio(responder: Responder): Promise<void> {
    const { serveStdio } = await import('@mcpx/transport-stdio')
    // Wait until the server processes have ended before this process exits.
    await serveStdio(responder, { exitTimeout: Number.POSITIVE_INFINITY, onWarning })
  }
}

function existingPath(path: string): string {
  if (existsSync(path)) return path
  throw usageError(`--watch: ${path} does not exist`)
}
