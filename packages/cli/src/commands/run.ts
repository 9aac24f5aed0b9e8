/** `mcpx run`: serves the server that a file exports over HTTP or standard input and output. */

import { once } from 'node:events'
import type { Command } from 'commander'
import { usageError } from '../output/errors.ts'
import { REPORT_VARIABLE, reportLoadedFiles } from '../server/loaded-files.ts'
import { loadServer, servesItself } from '../server/module-file.ts'
import { addServingOptions, readServing, type ServingOptions } from '../server/options.ts'
import type { CommandContext } from './index.ts'

export function define(command: Command, context: CommandContext): void {
  addServingOptions(command).action(async (file: string, options: ServingOptions) => {
    const { path, isHttp } = readServing(file, options, context.terminal)
    const isWatched = context.terminal.env[REPORT_VARIABLE] === '1'
    if (isWatched) reportLoadedFiles()
    // Write all output first, because the code of the file may end this process.
    await context.terminal.finish()
    await (isHttp ? runHttp(context, path, options) : runStdio(context, path, isWatched))
  })
}

async function runHttp({ terminal, output }: CommandContext, path: string, options: ServingOptions): Promise<void> {
  // Programs parse each line of standard output, so the output of the server must not be among them.
  if (output.json) terminal.guardStdout()
  const loaded = await loadServer(path)
  const { serveLoaded } = await import('../server/serve.ts')
  const { url, close } = await serveLoaded(loaded, options)
  output.event({ event: 'serving', url }, `Serving at ${url} until Ctrl-C`)
  await untilAborted(terminal.signal)
  await close()
}

/** @param isWatched whether this process belongs to `mcpx dev` */
async function runStdio({ terminal }: CommandContext, path: string, isWatched: boolean): Promise<void> {
  const { stdin, signal } = terminal
  if (await servesItself(path)) {
    // The import of a file that serves by itself may last until it stops serving. The source only suggests that the file
    // serves. If it does not serve and exports no server, `loadServer` rejects.
    const loading = loadServer(path)
    await Promise.race([loading, untilAborted(signal)]).catch((error: unknown) => {
      if (stdin.readableFlowing === null) throw error
    })
    const isServed = stdin.readableFlowing !== null
    if (isServed) return Promise.race([untilEnd(stdin), untilAborted(signal)])
  }
  await import('@mcpx/transport-stdio/guard')
  const loaded = await loadServer(path, 'server')
  if (loaded.kind === 'app') {
    const remedy = `Also export the server (export const server = createServer(…))${isWatched ? '' : ', or add --http'}`
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
