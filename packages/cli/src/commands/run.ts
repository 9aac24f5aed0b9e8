/** `mcpx run`: serves the server of a file over HTTP or standard input and output. */

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { usageError } from '../output/errors.ts'
import { loadServer, servesItself } from '../server/module-file.ts'
import type { CommandContext } from './index.ts'

interface RunOptions {
  readonly http?: boolean
  readonly stdio?: boolean
  readonly port: string
  readonly host: string
  readonly path: string
}

export function define(command: Command, context: CommandContext): void {
  command
    .argument('<file>', 'a file that exports a server, in TypeScript or JavaScript')
    .option('--http', 'serve over HTTP; the default in a terminal')
    .option('--stdio', 'serve over standard input and output; the default without a terminal')
    .option('--port <port>', 'the port; 0 for any free one', '3000')
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--path <path>', 'the path of the endpoint', '/mcp')
    .action(async (file: string, options: RunOptions) => {
      const path = resolve(context.terminal.cwd, file)
      if (!existsSync(path)) throw usageError(`The file ${path} does not exist`)
      if (options.http === true && options.stdio === true) throw usageError('--http and --stdio exclude each other')
      // The file may exit when it has been served.
      await context.terminal.finish()
      const isHttp = options.http ?? (options.stdio !== true && context.terminal.stdin.isTTY === true)
      await (isHttp ? runHttp(context, path, options) : runStdio(context, path))
    })
}

async function runHttp({ terminal, output }: CommandContext, path: string, options: RunOptions): Promise<void> {
  const loaded = await loadServer(path)
  const { serveLoaded } = await import('../server/serve.ts')
  const { url, close } = await serveLoaded(loaded, options)
  output.note(`Serving at ${url} until Ctrl-C`)
  await untilAborted(terminal.signal)
  await close()
}

async function runStdio({ terminal }: CommandContext, path: string): Promise<void> {
  const { stdin, signal } = terminal
  if (await servesItself(path)) {
    // The import may last as long as the file serves. It fails if the file neither serves nor exports a server.
    const loading = loadServer(path)
    await Promise.race([loading, untilAborted(signal)]).catch((error: unknown) => {
      if (stdin.readableFlowing === null) throw error
    })
    const isServed = stdin.readableFlowing !== null
    if (isServed) return Promise.race([untilEnd(stdin), untilAborted(signal)])
  }
  await import('@mcpx/transport-stdio/guard')
  const loaded = await loadServer(path)
  if (loaded.kind === 'app') {
    const remedy = 'Export the server, too, or add --http.'
    throw usageError(`${path} exports an HTTP app, which cannot serve over standard input`, remedy)
  }
  const { serveStdio } = await import('@mcpx/transport-stdio')
  await serveStdio(loaded.server)
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

async function untilEnd(stdin: CommandContext['terminal']['stdin']): Promise<void> {
  if (!stdin.readableEnded && !stdin.destroyed) await Promise.race([once(stdin, 'end'), once(stdin, 'close')])
}
