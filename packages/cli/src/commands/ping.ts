/** `mcpx ping`: connects, and measures how long the server takes to respond. */

import type { Command } from 'commander'
import { plainLine } from '../output/plain-text.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, type ServerOptions } from '../server/options.ts'
import type { CommandContext } from './index.ts'

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command).action(async (server: string, options: ServerOptions) => {
    const start = performance.now()
    await useServer(context, server, options, async (client) => {
      const connectTime = Math.round(performance.now() - start)
      const sent = performance.now()
      // `ping` exists only in the legacy era.
      if (client.era === 'legacy') await client.ping()
      else await client.discover({ fresh: true })
      const pingTime = Math.round((performance.now() - sent) * 10) / 10
      const { info } = client.server
      const { era, revision } = client
      const name = plainLine(`${info?.title ?? info?.name ?? 'The server'} ${info?.version ?? ''}`)
      context.output.result(
        { server: info, era, revision, connectTime, pingTime },
        () => `${name} responds in ${pingTime} ms (revision ${revision}, connected in ${connectTime} ms)`,
      )
    })
  })
}
