/** `mcpx complete -- <words>`: returns completions to the script of `mcpx completion`. */

import { readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import attach from '@bomb.sh/tab/commander'
import { Command } from 'commander'
import { plainLine } from '../output/plain-text.ts'
import { machineOf } from '../server/hosts.ts'
import { findServers } from '../server/settings.ts'
import { SCRIPT } from '../server/target.ts'
import type { CommandContext } from './index.ts'

export function define(command: Command, context: CommandContext): void {
  command.action(async () => {
    const words = [...(context.serverCommand ?? [])]
    const program = new Command('mcpx')
    const shown = context.commands.filter(({ name, hidden }) => hidden !== true && name !== 'completion')
    const modules = await Promise.all(shown.map(async (entry) => ({ entry, module: await entry.load() })))
    for (const { entry, module } of modules)
      module.define(program.command(entry.name).description(entry.summary), context)
    const completions = attach(program, { completionCommandName: 'completion' })
    const servers = await serverCompletions(words.at(-1) ?? '', context)
    for (const { arguments: parameters } of completions.commands.values()) {
      const server = parameters.get('server')
      if (server === undefined) continue
      server.handler = (complete) => {
        for (const [value, description] of servers) complete(value, description)
      }
    }
    completions.parse(words)
  })
}

/** Returns names of servers in settings, and files that may export a server. Nothing is started. */
async function serverCompletions(
  word: string,
  { terminal }: CommandContext,
): Promise<[value: string, description: string][]> {
  const { servers } = await findServers(machineOf(terminal))
  const folder = word.endsWith('/') ? word : dirname(word)
  const prefix = word.includes('/') ? folder.replace(/\/?$/, '/') : ''
  return [
    ...servers.map(({ name, file }): [string, string] => [plainLine(name), file]),
    ...entriesOf(resolve(terminal.cwd, folder)).map((name): [string, string] => [`${prefix}${plainLine(name)}`, '']),
  ]
}

function entriesOf(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter(
      ({ name }) => !name.startsWith('.') && name !== 'node_modules',
    )
    return entries.flatMap((entry) =>
      entry.isDirectory() ? `${entry.name}/` : SCRIPT.test(entry.name) ? entry.name : [],
    )
  } catch {
    return []
  }
}
