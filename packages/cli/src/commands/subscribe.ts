/** `mcpx subscribe`: prints changes of lists and of resources until Ctrl-C. */

import type { Change } from '@mcpx/client'
import type { Command } from 'commander'
import { CliError } from '../output/errors.ts'
import { plainLine } from '../output/plain-text.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import type { CommandContext } from './index.ts'

interface SubscribeOptions extends ServerOptions {
  readonly once?: boolean
}

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command)
    .argument('[uris...]', 'resources to follow, in addition to the lists of tools, resources and prompts')
    .option('--once', 'end after the first change')
    .action(async (server: string, uris: readonly string[], options: SubscribeOptions) =>
      useServer(context, server, options, async (client) => {
        const { terminal, output } = context
        const { tools, prompts, resources } = client.server.capabilities
        const changes = client.listen(
          {
            ...(tools?.listChanged === true && { toolsListChanged: true }),
            ...(prompts?.listChanged === true && { promptsListChanged: true }),
            ...(resources?.listChanged === true && { resourcesListChanged: true }),
            ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
          },
          { signal: terminal.signal },
        )
        const followed = await changes.ready
        const refused = uris.filter((uri) => followed.resourceSubscriptions?.includes(uri) !== true)
        if (refused.length > 0)
          throw new CliError('refused', `The server does not support subscriptions to ${refused.join(', ')}`)
        if (Object.keys(followed).length === 0)
          throw new CliError('refused', 'The server does not notify clients of changes')
        output.note(`Following ${namesOf(followed).join(', ')}. Ctrl-C ends.`)
        for await (const change of changes) {
          output.line(change, () => textOf(change))
          if (options.once === true) return
        }
      }),
    )
}

function namesOf({
  resourceSubscriptions = [],
  ...lists
}: {
  resourceSubscriptions?: readonly string[] | undefined
}): string[] {
  const names = Object.keys(lists).map((name) => `the list of ${name.replace('ListChanged', '')}`)
  return [...names, ...resourceSubscriptions.map(plainLine)]
}

function textOf(change: Change): string {
  const time = new Date().toLocaleTimeString('en-GB')
  return `${time} ${change.kind === 'resource' ? `${plainLine(change.uri)} was updated` : `the list of ${change.kind} has changed`}`
}
