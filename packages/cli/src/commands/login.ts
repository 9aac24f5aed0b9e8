/** `mcpx login`: logs in at a server before the first command that needs it. */

import type { Command } from 'commander'
import { usageError } from '../output/errors.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import type { CommandContext } from './index.ts'

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command).action(async (server: string, options: ServerOptions) => {
    const { terminal, output } = context
    if (!terminal.isInteractive)
      throw usageError('login needs a terminal', 'In scripts, pass --token or the variable MCPX_TOKEN.')
    await useServer(context, server, options, async (_, { label }) =>
      output.result({ server: label, loggedIn: true }, () => `${label} accepts your requests.`),
    )
  })
}
