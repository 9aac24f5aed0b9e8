/** `mcpx inspect`: a page in the browser that shows a server, calls it, and logs the messages. */

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import type { ServerSource } from '../inspect/api.ts'
import type { Inspector } from '../inspect/serve.ts'
import { usageError } from '../output/errors.ts'
import { openServer, resolveServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import type { Target } from '../server/target.ts'
import type { CommandContext } from './index.ts'

interface InspectOptions extends ServerOptions {
  readonly port?: number
  readonly open: boolean
}

const NOTES = `
The page is served on 127.0.0.1 only, at an address that cannot be guessed. Keep the address secret: anyone who opens it calls the server with your rights.

Examples:
  mcpx inspect server.ts
  mcpx inspect https://example.com/mcp --no-open
  mcpx inspect -- npx -y @modelcontextprotocol/server-everything`

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command)
    .option('--port <port>', 'the port of the page; default: a free port', readPort)
    .option('--no-open', 'do not open the browser')
    .addHelpText('after', NOTES)
    .action(async (word: string, options: InspectOptions) => {
      const { output, terminal } = context
      // Load them here, because help and completion do not need them.
      const [{ startInspector }, { openBrowser }] = await Promise.all([
        import('../inspect/serve.ts'),
        import('@mcpx/auth/node'),
      ])
      let inspector: Inspector | undefined
      // The log of the page shows the standard error of the server.
      const stderr = new PassThrough()
      createInterface({ input: stderr }).on('line', (line) => inspector?.inspection.log.addEvent('stderr', line))
      if (options.verbose === true) stderr.pipe(terminal.stderr)
      const logged = { ...context, terminal: { ...terminal, stderr } }
      const server = await resolveServer(logged, word, { ...options, verbose: true })
      inspector = await startInspector({
        label: server.label,
        source: sourceOf(server.target, word),
        connector: server.connector,
        connect: (connector, clientOptions) => openServer(context, { ...server, connector }, options, clientOptions),
        port: options.port,
      })
      try {
        output.result({ url: inspector.url }, () => `Inspecting at ${inspector.url} until Ctrl-C`)
        if (options.open && !output.json && !(await openBrowser(new URL(inspector.entryUrl))))
          output.note('No browser could be opened. Open the address yourself.')
        if (!terminal.signal.aborted) await once(terminal.signal, 'abort')
      } finally {
        await inspector.close()
      }
    })
}

function readPort(value: string): number {
  const port = Number(value)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && value.trim() !== '') return port
  throw usageError(`--port: expected a number from 0 to 65535, got ${JSON.stringify(value)}`)
}

/** Returns the server as the user wrote it in the command. The page uses it in code that the user can copy. */
function sourceOf(target: Target, word: string): ServerSource {
  switch (target.kind) {
    case 'url':
      return { kind: 'url', url: target.url.href }
    case 'command':
      return { kind: 'command', command: target.command, args: target.args }
    case 'stdin':
      return { kind: 'stdin' }
    default:
      return { kind: target.kind, word }
  }
}
