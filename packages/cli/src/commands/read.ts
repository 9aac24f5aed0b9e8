/** `mcpx read`: reads a resource. */

import type { Command } from 'commander'
import { type Contents, partOfContents, printParts } from '../output/content.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import type { CommandContext } from './index.ts'

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command)
    .argument('<uri>', 'the URI of the resource')
    .option('-o, --output <file>', 'write the exact content to a file; with -, to standard output')
    .action(async (server: string, uri: string, options: ServerOptions & { output?: string }) =>
      useServer(context, server, options, async (client) => {
        const result = await client.readResource(uri, { signal: context.terminal.signal })
        await printParts(
          context,
          result,
          result.contents.map((each) => partOfContents(each as Contents)),
          options.output,
        )
      }),
    )
}
