/**
 * `mcpx list`: lists the tools, resources and prompts of a server. Without a server, lists the servers in the settings
 * of hosts.
 */

import type { Client } from '@mcpx/client'
import type { Command } from 'commander'
import { formatCatalogue, formatServers } from '../output/catalogue.ts'
import { machineOf } from '../server/hosts.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import { findServers } from '../server/settings.ts'
import type { CommandContext } from './index.ts'

interface ListOptions extends ServerOptions {
  readonly full?: boolean
}

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command, { optional: true })
    .option('--full', 'show descriptions and schemas in full')
    .action(async (server: string | undefined, options: ListOptions) => {
      if (server === undefined) return listServers(context)
      const catalogue = await useServer(context, server, options, readCatalogue)
      const { output } = context
      output.result(catalogue, () => formatCatalogue(catalogue, output, { full: options.full === true }))
    })
}

/** Everything that a server lists, as `--json` prints it. */
export interface Catalogue extends Awaited<ReturnType<typeof readCatalogue>> {}

/** Reads the lists of the capabilities that the server declares. */
export async function readCatalogue(client: Client) {
  const { info, capabilities, instructions } = client.server
  const [tools, resources, resourceTemplates, prompts] = await Promise.all([
    capabilities.tools === undefined ? [] : client.listTools().all(),
    capabilities.resources === undefined ? [] : client.listResources().all(),
    capabilities.resources === undefined ? [] : client.listResourceTemplates().all(),
    capabilities.prompts === undefined ? [] : client.listPrompts().all(),
  ])
  return { server: info, revision: client.revision, instructions, tools, resources, resourceTemplates, prompts }
}

async function listServers({ terminal, output }: CommandContext): Promise<void> {
  const { servers, problems } = await findServers(machineOf(terminal))
  for (const { message, hint } of problems) output.note(`warning: ${message}. ${hint ?? ''}`)
  // Print only these members, because settings contain secrets.
  const shown = servers.map(({ name, host, file, scope, enabled, entry }) => {
    const { command, url, serverUrl, httpUrl } = entry
    return { name, host, file, scope, enabled, ...(command ? { command } : { url: url ?? serverUrl ?? httpUrl }) }
  })
  output.result({ servers: shown }, () => formatServers(shown, output))
}
