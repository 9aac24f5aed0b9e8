/** `mcpx logout`: deletes and revokes the tokens of a server. */

import type { Command } from 'commander'
import { usageError } from '../output/errors.ts'
import { addJsonOption } from '../server/options.ts'
import type { CommandContext } from './index.ts'

export function define(command: Command, context: CommandContext): void {
  addJsonOption(command.argument('<url>', 'the URL of the server')).action(async (url: string) => {
    if (!URL.canParse(url) || !/^https?:/.test(url)) {
      throw usageError(`expected the http or https URL of a server, got ${JSON.stringify(url)}`)
    }
    const { createAuth } = await import('../server/login.ts')
    await createAuth(context.terminal, false).signOut(url)
    context.output.result({ server: url, loggedIn: false }, () => `The tokens of ${url} were deleted.`)
  })
}
