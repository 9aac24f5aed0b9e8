/** `mcpx types`: writes the types of a server. */

import type { Command } from 'commander'
import { usageError } from '../output/errors.ts'
import { typesOfServer } from '../output/server-types.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import type { CommandContext } from './index.ts'

const EXAMPLE = `
Example:
  $ mcpx types https://example.com/mcp > shop.ts

  import type { Server } from './shop.ts'
  const client = await connect<Server>(http('https://example.com/mcp'))`

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command)
    .option('--name <name>', 'the name of the interface', 'Server')
    .addHelpText('after', EXAMPLE)
    .action(async (server: string, options: ServerOptions & { name: string }) => {
      const { name } = options
      if (!/^[A-Za-z_$][\w$]*$/.test(name)) {
        throw usageError(`--name: expected the name of an interface, got ${JSON.stringify(name)}`)
      }
      await useServer(context, server, options, async (client) => {
        const { info, capabilities } = client.server
        const tools = capabilities.tools === undefined ? [] : await client.listTools().all()
        const prompts = capabilities.prompts === undefined ? [] : await client.listPrompts().all()
        const title = `${info?.title ?? info?.name ?? 'a server'} ${info?.version ?? ''}`.trim()
        const types = typesOfServer(name, title, { tools, prompts })
        context.output.result({ types }, () => types)
      })
    })
}
